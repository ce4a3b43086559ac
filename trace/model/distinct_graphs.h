// The graphs of a set of traces, each once.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/model/trace.h"

namespace chakra {

// The distinct graphs in order of first use by rank, and each rank's index.
struct DistinctGraphs {
  explicit DistinctGraphs(const TraceSet& traces);
  std::vector<const Graph*> graphs;
  std::vector<uint32_t> of_rank;
};

}  // namespace chakra
