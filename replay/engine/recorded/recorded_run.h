// A replay in which all communication takes its recorded time, without a queue of events: each rank walks its
// nodes (recorded_walk.h) until it waits for a call, on threads. The metrics are those of the engine.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/match/match.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"
#include "trace/model/trace.h"

namespace chakra {

// Nothing: the engine must replay the run, as the options or the traces ask for more than walks do
// (variation, causes, members without a trace, queued lanes, delays), or as it cannot come to its end. Error:
// Cancelled. The result does not depend on EngineOptions::threads. Takes 48 bytes a call or message, beside
// the nodes of a rank for each thread.
absl::StatusOr<std::optional<Metrics>> ReplayRecorded(const TraceSet& traces,
                                                      const std::vector<ComputeTimes>& compute,
                                                      const EngineOptions& options, const Matching& matching);

}  // namespace chakra
