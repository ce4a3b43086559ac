// Fuses element-wise operations in modules from before XLA's optimizations.
#pragma once

#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// If a module has many element-wise operations and no fusion, makes fusions about as XLA's instruction fusion
// does (xla/service/instruction_fusion.h), and sets Module::fused_here. An element-wise operation, broadcast,
// slice or similar operation becomes part of each of its users, if these are all such operations, reductions
// or updates in place. Operations with other users, or that would make a fusion too large, stay as they are.
// Before that, sets the trip counts of loops.
void FuseElementwise(Module* module);

}  // namespace chakra::hlo
