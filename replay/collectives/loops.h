// Streams that do the same for piece after piece.
#pragma once

#include "replay/collectives/plan.h"

namespace chakra {

// Sets plan->loops and plan->loop_steps. Plans with few steps, and those in which all members do the same,
// get none.
void FindLoops(Plan* plan);

}  // namespace chakra
