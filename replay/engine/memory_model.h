// The memory that load and store nodes reach.
#pragma once

#include "trace/base/units.h"

namespace chakra {

// Where MEM_LOAD and MEM_STORE go.
struct MemoryModel {
  enum class Kind { kLocal, kPerRank, kPerNode, kPool };
  Kind kind = Kind::kLocal;
  Bandwidth bandwidth;  // 0: not configured; a memory node is then an error
  Time latency;
  int ranks_per_node = 1;  // kPerNode
};

}  // namespace chakra
