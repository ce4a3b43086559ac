// The order of a timeline's events.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/pytorch/capture.h"

namespace chakra::pytorch {

// Whether `a` comes first: it begins earlier, or is longer.
inline bool ComesBefore(const Event& a, const Event& b) { return a.ts != b.ts ? a.ts < b.ts : a.dur > b.dur; }

// Rows of the events by begin, longer ones first, then as they are.
std::vector<uint32_t> OrderOfEvents(const std::vector<Event>& events);

}  // namespace chakra::pytorch
