// The range of the makespan, from the errors that the kernel model states for its times.
#pragma once

#include <optional>
#include <vector>

#include "replay/compute/compute_times.h"
#include "replay/engine/causes/critical_path.h"
#include "replay/engine/measure/metrics.h"
#include "trace/model/trace.h"

namespace chakra {

struct MakespanRange {
  Time low, high;  // 90 of 100 measurements are between low and high
};

// Uses the rows that the kernel model answered (ComputeTimes::spread): those on the critical path if `path`
// is given, else those of the rank whose rows have the largest possible error. For such a rank, the errors
// are scaled if its rows ran at the same time: by the time in which any row ran over the sum of the rows.
// Rows of the same name, shapes and dtypes have the same error, so their errors add up linearly. Rows of a
// family share a part of their error, since a wrong law is wrong for all of them: half of the variance
// (kSharedVariance) adds up linearly within a family. The other half is independent and adds up in
// quadrature, as do families. The run is not replayed: the range ignores that the path may change with the
// times, and that waiting may absorb a part of the change. nullopt: the model answered no row.
std::optional<MakespanRange> RangeOfMakespan(const Metrics& metrics, const TraceSet& traces,
                                             const std::vector<ComputeTimes>& times,
                                             const CriticalPath* path);

inline constexpr double kSharedVariance = 0.5;

}  // namespace chakra
