// One trace replayed as many equal ranks.
#pragma once

#include "absl/status/status.h"
#include "trace/trace.h"

namespace chakra {

// Turns a set of one trace into one of `ranks` ranks that share its graph. The
// peers of sends and receives are taken relative to the traced rank t: on rank
// r, peer p becomes (p - t + r) mod ranks. A group of ranks
// start + i * stride is moved so that all ranks are tiled by it ("name@start");
// roots of collectives stay as recorded. Repairs are listed once, with rank 0.
// Errors: more than one trace; a peer outside [0, ranks), a group that does not
// tile the ranks.
absl::Status MakeSymmetric(int ranks, TraceSet* traces);

}  // namespace chakra
