// A replay in which all communication takes its recorded time, without a queue of events: on several threads,
// each rank walks its nodes (recorded_walk.h) until it must wait for a call. The metrics are those of the
// engine.
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

// Returns nullopt if the engine must replay the run: because the options or the traces need more than walks
// offer (variation, causes, members without a trace, queued lanes, delays), or because the run cannot finish.
// Error: Cancelled. The result does not depend on EngineOptions::threads. Needs 48 bytes for each call or
// message, plus the nodes of one rank for each thread.
absl::StatusOr<std::optional<Metrics>> ReplayRecorded(const TraceSet& traces,
                                                      const std::vector<ComputeTimes>& compute,
                                                      const EngineOptions& options, const Matching& matching);

}  // namespace chakra
