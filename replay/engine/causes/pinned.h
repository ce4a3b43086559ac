// The pinned time of a run: how long each rank takes when nothing takes time but what is taken as given.
#pragma once

#include <vector>

#include "replay/compute/compute_times.h"
#include "replay/engine/causes/cause.h"
#include "replay/engine/match/match.h"
#include "trace/model/pinned.h"
#include "trace/model/trace.h"
#include "trace/model/twins.h"

namespace chakra {

// The pinned time of a run.
struct PinnedRun {
  std::vector<PinnedTime> ranks;  // PinnedOfRanks()
  PinnedTime path;                // PinnedOfPath()
};

// By rank: the longest path over the delays of dependencies and recorded waits (of the times in `compute`, as
// of Replay()) from time 0 to the rank's last end, all other durations and transfers being 0. Members of a
// collective and the two sides of a message meet as in a replay: a receive waits for its send; a send waits
// for its receive if `recorded_comm`, unless the send is eager. Lanes are no part of it: what a lane ordered
// is a dependency in a capture. Ranks whose graph has no delays have no delays of their own. Precondition: a
// replay of the same traces came to its end. `twins` (null: there are none) as `matching` was made with.
std::vector<PinnedTime> PinnedOfRanks(const TraceSet& traces, const std::vector<ComputeTimes>& compute,
                                      const Matching& matching, bool recorded_comm,
                                      const Twins* twins = nullptr);

// The part that is pinned of the critical path that leads to `final`.
PinnedTime PinnedOfPath(const CauseRef& final, const TraceSet& traces,
                        const std::vector<ComputeTimes>& compute);

}  // namespace chakra
