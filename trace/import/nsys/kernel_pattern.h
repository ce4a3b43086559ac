// Steps where nothing names them: the pattern of kernels that repeats.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/nsys/process.h"

namespace chakra::nsys {

// The shortest period of a sequence that repeats at least twice: at least `share` of the elements equal the
// one a period later. 0: there is none. Time grows with the length times the number of periods that are tried
// (at most kMostTried).
size_t PeriodOf(const std::vector<uint32_t>& sequence, double share);
inline constexpr size_t kMostTried = 64;

// Adds a mark of each step, ProfilerStep#0 and on, on the thread that launches a period's first kernel: from
// the begin of the call tree around that launch to that of the next. A period begins where the device was
// idle longest. Precondition: events are sorted; they stay so. Of the last period nothing tells the end: it
// gets no mark. Notes it where no pattern is found.
void MarkPattern(Process* process);

}  // namespace chakra::nsys
