// The memory that load and store nodes access.
#pragma once

#include "trace/base/units.h"

namespace chakra {

// The memory that MEM_LOAD and MEM_STORE access.
struct MemoryModel {
  enum class Kind { kLocal, kPerRank, kPerNode, kPool };
  Kind kind = Kind::kLocal;
  Bandwidth bandwidth;  // 0: no memory is configured, and a memory node is an error
  Time latency;
  int ranks_per_node = 1;  // kPerNode
};

}  // namespace chakra
