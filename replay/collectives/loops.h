// Finds streams that repeat the same steps for piece after piece.
#pragma once

#include "replay/collectives/plan.h"

namespace chakra {

// Sets plan->loops and plan->loop_steps. Plans with few steps, and rotational plans, get no loops.
void FindLoops(Plan* plan);

}  // namespace chakra
