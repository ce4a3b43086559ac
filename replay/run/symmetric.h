// Replays one trace as many ranks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "replay/run/growth.h"
#include "trace/model/symmetric_ranks.h"
#include "trace/model/trace.h"

namespace chakra {

// Turns a set of one trace into `ranks` ranks that share its graph. The trace is that of the traced rank t:
// RankTrace::recorded_rank, or rank if that is not set. The trace's groups become those of GrowGroups(). In a
// group that grows, a rank's share of an all-gather or a gather shrinks accordingly; all other sizes stay. A
// group that does not grow keeps the pattern of its ranks, a RankBox. Copies of the box tile all ranks
// (groups "name@start"), and the roots of collectives move with the copies. On rank r, peer p of a send or
// receive becomes (p - t + r) mod ranks. Repairs are listed once, with rank 0. TraceSet::assumptions has a
// line for each group: grown, repeated, or unchanged. Errors: more than one trace; t or a peer outside [0,
// ranks); a group that does not tile the ranks; those of GrowGroups().
absl::Status MakeSymmetric(int ranks, TraceSet* traces, const std::vector<Replicas>& replicas = {});

// The symmetric ranks of a set that MakeSymmetric() made: all ranks are symmetric to rank 0. Empty if ranks
// exchange messages, since a rank's partner must then be simulated too.
SymmetricRanks FindSymmetricRanks(const TraceSet& traces);

}  // namespace chakra
