// Operations that run beside others: "fusion-start" and its kind as what XLA means by them.
#pragma once

#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// HLO text writes async-start of a computation that is one operation, X, as X-start with the attributes of X,
// and its other halves as X-update and X-done. Makes async-start, -update and -done with such a computation
// of them again. Operations whose starts are opcodes of their own (all-reduce, all-gather,
// collective-permute, copy) stay as they are.
void WrapAsynchronous(Module* module);

}  // namespace chakra::hlo
