// Modules from before XLA's optimisations: element-wise operations that XLA would fuse, as fusions.
#pragma once

#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// Where a module has no fusion, but many element-wise operations, puts those that only such operations,
// reductions and updates in place use into each of their users, with broadcasts, slices and the like, as
// XLA's instruction fusion does (xla/service/instruction_fusion.h). Sets Module::fused_here. What is used
// elsewhere, or would be part of too large a fusion, stays on its own. Loops are counted before.
void FuseElementwise(Module* module);

}  // namespace chakra::hlo
