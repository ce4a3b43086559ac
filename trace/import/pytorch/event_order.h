// The order of a timeline's events.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/pytorch/capture.h"

namespace chakra::pytorch {

// Rows of the events by begin, longer ones first, then as they are.
std::vector<uint32_t> OrderOfEvents(const std::vector<Event>& events);

}  // namespace chakra::pytorch
