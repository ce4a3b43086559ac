#include "replay/engine/engine.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "replay/engine/engine_run.h"
#include "replay/engine/measure/transfers.h"

namespace chakra {

DistinctGraphs::DistinctGraphs(const TraceSet& traces) {
  absl::flat_hash_map<const Graph*, uint32_t> seen;
  for (const RankTrace& rank : traces.ranks) {
    const auto [it, fresh] = seen.emplace(rank.graph.get(), static_cast<uint32_t>(graphs.size()));
    if (fresh) graphs.push_back(rank.graph.get());
    of_rank.push_back(it->second);
  }
}

absl::StatusOr<Metrics> Replay(const TraceSet& traces, const std::vector<ComputeTimes>& compute,
                               Fabric& fabric, const EngineOptions& options) {
  if (static_cast<int>(traces.ranks.size()) > fabric.devices()) {
    return absl::InvalidArgumentError(absl::StrCat("the traces have ", traces.ranks.size(),
                                                   " ranks, but the cluster only ", fabric.devices(),
                                                   " devices"));
  }
  if (options.collectives.splits < 1)
    return absl::InvalidArgumentError("collectives.splits: expected at least 1");
  absl::StatusOr<Matching> matching =
      MatchCommunication(traces, options.dimension_sizes, options.recorded_comm);
  if (!matching.ok()) return matching.status();
  absl::StatusOr<Metrics> metrics = Engine(traces, compute, fabric, options, *matching).Run();
  if (metrics.ok() && !options.recorded_comm) AddRecordedTransfers(traces, *matching, &*metrics);
  return metrics;
}

}  // namespace chakra
