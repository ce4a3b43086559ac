// The model of the memory that load and store nodes access.
#pragma once

#include "trace/base/units.h"

namespace chakra {

// The memory that MEM_LOAD and MEM_STORE nodes access.
struct MemoryModel {
  enum class Kind { kLocal, kPerRank, kPerNode, kPool, kNetwork };
  Kind kind = Kind::kLocal;
  // 0: no memory is configured, and a memory node is an error; for kNetwork: drives have no limit.
  Bandwidth bandwidth;
  Time latency;
  int ranks_per_node = 1;  // kPerNode
  int storage_nodes = 0;   // kNetwork
};

}  // namespace chakra
