#include "trace/model/distinct_graphs.h"

#include "absl/container/flat_hash_map.h"

namespace chakra {

DistinctGraphs::DistinctGraphs(const TraceSet& traces) {
  absl::flat_hash_map<const Graph*, uint32_t> seen;
  for (const RankTrace& rank : traces.ranks) {
    const auto [it, fresh] = seen.emplace(rank.graph.get(), static_cast<uint32_t>(graphs.size()));
    if (fresh) graphs.push_back(rank.graph.get());
    of_rank.push_back(it->second);
  }
}

}  // namespace chakra
