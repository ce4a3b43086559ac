// The distinct graphs of a set of traces.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/model/trace.h"

namespace chakra {

// The distinct graphs, ordered by the first rank that has each, and the index of each rank's graph.
struct DistinctGraphs {
  explicit DistinctGraphs(const TraceSet& traces);
  std::vector<const Graph*> graphs;
  std::vector<uint32_t> of_rank;
};

}  // namespace chakra
