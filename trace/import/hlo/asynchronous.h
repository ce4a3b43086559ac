// Asynchronous operations of HLO text: from "fusion-start" and the like to async-start.
#pragma once

#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// Turns X-start, X-update and X-done into async-start, async-update and async-done. HLO text writes an
// async-start whose computation is one operation, X, as X-start with the attributes of X; this makes the
// computation again. Operations that have a start opcode of their own (all-reduce, all-gather,
// collective-permute, copy) stay as they are.
void WrapAsynchronous(Module* module);

}  // namespace chakra::hlo
