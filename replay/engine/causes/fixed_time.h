// The fixed time of a run: how long each rank takes if only the recorded times that no edit can move
// take time.
#pragma once

#include <vector>

#include "replay/compute/compute_times.h"
#include "replay/engine/causes/cause.h"
#include "replay/engine/match/match.h"
#include "trace/model/fixed_time.h"
#include "trace/model/symmetric_ranks.h"
#include "trace/model/trace.h"

namespace chakra {

// The fixed time of a run.
struct FixedTimeRun {
  std::vector<FixedTime> ranks;  // FixedTimeOfRanks()
  FixedTime path;                // FixedTimeOfPath()
};

// By rank: the longest path from time 0 to the rank's last end over the delays of dependencies and recorded
// waits. Waits are taken from the times in `compute`, which is as in Replay(); all other durations and
// transfers are 0. Members of a collective and the two sides of a message wait for each other as in a replay:
// a receive waits for its send; a send waits for its receive if `recorded_comm`, unless the send is eager.
// Lanes are left out: in a capture, the order of a lane is recorded as dependencies. Ranks whose graph has no
// delays have no delays of their own. Precondition: a replay of the same traces has finished. `symmetric`: as
// passed when `matching` was made; null: no symmetric ranks.
std::vector<FixedTime> FixedTimeOfRanks(const TraceSet& traces, const std::vector<ComputeTimes>& compute,
                                        const Matching& matching, bool recorded_comm,
                                        const SymmetricRanks* symmetric = nullptr);

// The fixed part of the critical path that leads to `final`.
FixedTime FixedTimeOfPath(const CauseRef& final, const TraceSet& traces,
                          const std::vector<ComputeTimes>& compute);

}  // namespace chakra
