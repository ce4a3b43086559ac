// One trace replayed as many ranks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "replay/run/growth.h"
#include "trace/model/trace.h"
#include "trace/model/twins.h"

namespace chakra {

// Turns a set of one trace into one of `ranks` ranks that share its graph. What the trace says is seen from
// the traced rank t: RankTrace::recorded_rank, or rank where that is not set. Its groups become those of
// GrowGroups(): a group of all recorded ranks, or that of `replicas`, grows, and in it a rank's share of an
// all-gather or a gather shrinks as the group grows; all other sizes stay. Other groups keep the pattern of
// their ranks, a RankBox, which is moved so that all ranks are tiled by it ("name@start"), and the roots of
// collectives with it. On rank r, peer p of a send or receive becomes (p - t + r) mod ranks. Repairs are
// listed once, with rank 0; TraceSet::assumptions has a line for each group: grown, repeated, or as it is.
// Errors: more than one trace; t or a peer outside [0, ranks), a group that does not tile the ranks; those of
// GrowGroups().
absl::Status MakeSymmetric(int ranks, TraceSet* traces, const std::vector<Replicas>& replicas = {});

// Of a set that MakeSymmetric() made: all ranks are twins of rank 0. Where ranks exchange messages there are
// none, for a partner is not the rank itself.
Twins TwinsOfSymmetric(const TraceSet& traces);

}  // namespace chakra
