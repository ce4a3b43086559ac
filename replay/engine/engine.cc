#include "replay/engine/engine.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/engine/causes/fixed_time.h"
#include "replay/engine/engine_run.h"
#include "replay/engine/measure/transfers.h"
#include "replay/engine/recorded/recorded_run.h"
#include "trace/base/status_macros.h"

namespace chakra {

absl::StatusOr<Metrics> Replay(const TraceSet& traces, const std::vector<ComputeTimes>& compute,
                               Machine& machine, const EngineOptions& options) {
  if (static_cast<int>(traces.ranks.size()) > machine.devices()) {
    return absl::InvalidArgumentError(absl::StrCat("the traces have ", traces.ranks.size(),
                                                   " ranks, but the cluster has only ", machine.devices(),
                                                   " devices"));
  }
  if (options.collectives.splits < 1)
    return absl::InvalidArgumentError("collectives.splits: expected at least 1");
  ASSIGN_OR_RETURN(Matching matching, MatchCommunication(traces, options.dimension_sizes,
                                                         options.recorded_comm, options.symmetric));
  ASSIGN_OR_RETURN(std::optional<Metrics> recorded, ReplayRecorded(traces, compute, options, matching));
  if (recorded.has_value()) return *std::move(recorded);
  NodeSpans spans;
  EngineOptions own = options;
  const bool endpoints = machine.endpoint_prices() != nullptr && !options.recorded_comm;
  if (endpoints) {  // LogGOPS supports none of these
    own.symmetric = nullptr;
    own.observer = nullptr;
    own.comm_kinds = nullptr;
    own.fixed_time = nullptr;
    return Engine(traces, compute, machine, own, matching).Run();
  }
  if (options.ran && options.spans == nullptr) own.spans = &spans;
  absl::StatusOr<Metrics> metrics = Engine(traces, compute, machine, own, matching).Run();
  for (uint32_t r = 0; metrics.ok() && options.ran && r < traces.ranks.size(); ++r) {
    if (!IsSymmetricRank(options.symmetric, static_cast<int>(r))) options.ran(r, (*own.spans)[r]);
  }
  if (metrics.ok() && !options.recorded_comm) AddRecordedTransfers(traces, matching, &*metrics);
  if (metrics.ok() && options.fixed_time != nullptr)
    options.fixed_time->ranks =
        FixedTimeOfRanks(traces, compute, matching, options.recorded_comm, options.symmetric);
  return metrics;
}

}  // namespace chakra
