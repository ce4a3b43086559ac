// One trace replayed as many equal ranks.
#pragma once

#include "absl/status/status.h"
#include "trace/model/trace.h"

namespace chakra {

// Turns a set of one trace into one of `ranks` ranks that share its graph. What
// the trace says is seen from the traced rank t: RankTrace::recorded_rank, or
// rank where that is not set. On rank r, peer p of a send or receive becomes
// (p - t + r) mod ranks. A group of ranks start + i * stride is moved so that
// all ranks are tiled by it ("name@start"), and the roots of its collectives
// with it. Repairs are listed once, with rank 0.
// Errors: more than one trace; t or a peer outside [0, ranks), a group that
// does not tile the ranks.
absl::Status MakeSymmetric(int ranks, TraceSet* traces);

}  // namespace chakra
