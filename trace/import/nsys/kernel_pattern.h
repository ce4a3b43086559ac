// Finds steps that no range names: as the pattern of kernels that repeats.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/nsys/process.h"

namespace chakra::nsys {

// Returns the shortest period of `sequence`: at least `share` of the elements equal the element one period
// later, and the sequence holds at least two periods. 0: there is none. The time grows with the length times
// the number of periods that are tried (at most kMostTried).
size_t PeriodOf(const std::vector<uint32_t>& sequence, double share);
inline constexpr size_t kMostTried = 64;

// Adds a mark for each step, with the names ProfilerStep#0, ProfilerStep#1 and so on, on the thread that
// launches the first kernel of a period. A mark lasts from the begin of the call tree around that launch to
// the begin of the next period's call tree. A period begins with the kernel before which the device was idle
// longest. The last period gets no mark, because its end is not known. Precondition: events are sorted; they
// stay sorted. Adds a note if no pattern is found.
void MarkPattern(Process* process);

}  // namespace chakra::nsys
