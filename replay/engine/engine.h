// The replay: one discrete-event loop over every rank's graph and one fabric.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "backends/machine.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"
#include "trace/model/trace.h"

namespace chakra {

// Replays `traces` on `machine`. compute[g] belongs to graph g of DistinctGraphs(traces). Rank r runs on
// device r of the machine. Errors: a node that cannot be replayed (named), more ranks than devices, a group
// member without a trace, collectives that do not agree (both nodes named), unmatched sends and receives, and
// a run that cannot finish (the error lists which rank waits for which).
absl::StatusOr<Metrics> Replay(const TraceSet& traces, const std::vector<ComputeTimes>& compute,
                               Machine& machine, const EngineOptions& options);

}  // namespace chakra
