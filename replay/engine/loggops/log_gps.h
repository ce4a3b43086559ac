// Replays programs of computation, sends and receives in the LogGOPS model (backends/loggps/loggps.h): the
// rules of LogGOPSim, with one of them mended.
//
// Events are ordered by time, then by when they were made; of the nodes that one event releases, sends are
// made before receives, receives before computation, in recorded order. An event that finds its cpu or card
// busy tries again when they are free, with its place in the order. Messages meet receives of their source
// and tag in the order in which they arrive and are posted. A message keeps the cpu of the number that its
// send has busy at the receiver. A receive takes no time of its own and has ended when its message was taken.
// LogGOPSim gives a released node the time when its cpu is free, which on a cpu that idles may lie before the
// release; here a node never begins before what it waits for has ended.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "backends/loggps/loggps.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/match/match.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"
#include "trace/model/trace.h"

namespace chakra {

// As Replay(). Uses spans and start of `options`. Errors: a collective or an access to memory, which the
// model does not know; options that it does not take; operations that can never run, with the first of them.
absl::StatusOr<Metrics> ReplayLogGps(const TraceSet& traces, const std::vector<ComputeTimes>& compute,
                                     const LogGpsOptions& model, const EngineOptions& options,
                                     const Matching& matching);

}  // namespace chakra
