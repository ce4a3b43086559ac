// Matches the sends of a step with its receives.
#pragma once

#include <vector>

#include "trace/import/hlo/step.h"

namespace chakra::hlo {

// Sets StepCollective::tag. Sends and receives on one channel have the same tag, if the channel has both.
// Other sends and receives have the same tag if they have the same pairs. A permute is a send and a receive
// in one, with a tag of its own.
void TagMessages(std::vector<StepCollective>* collectives);

}  // namespace chakra::hlo
