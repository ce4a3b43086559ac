// Which sends of a step meet which receives.
#pragma once

#include <vector>

#include "trace/import/hlo/step.h"

namespace chakra::hlo {

// Sets StepCollective::tag. A send and a receive of one channel meet, where a channel has both; others those
// of the same pairs. A permute is both in one.
void TagMessages(std::vector<StepCollective>* collectives);

}  // namespace chakra::hlo
