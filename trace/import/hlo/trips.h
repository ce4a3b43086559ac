// How often a loop goes round.
#pragma once

#include <cstdint>

#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// The count of a loop of the computation `in` over a number that starts at a constant, that its body adds a
// constant to or takes one from, and that its condition compares with a constant, as JAX's scans are before
// XLA's optimisations. Fusions, copies and parts of the state that no round changes are seen through. -1: it
// is no such loop, or one of its constants is not in the module.
int64_t TripCount(const Module& module, const Computation& in, const Instruction& loop);

}  // namespace chakra::hlo
