// How often a loop iterates.
#pragma once

#include <cstdint>

#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// Returns the trip count of a loop in the computation `in`. The loop must count with a number that starts at
// a constant, to which the body adds a constant or from which it subtracts one, and which the condition
// compares with a constant. JAX's scans have this form before XLA's optimizations. The search follows values
// through fusions, copies, and parts of the state that no iteration changes. -1: the loop has another form,
// or one of the constants is not in the module.
int64_t TripCount(const Module& module, const Computation& in, const Instruction& loop);

}  // namespace chakra::hlo
