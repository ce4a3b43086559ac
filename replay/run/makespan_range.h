// Within what the makespan lies, by the errors that the kernel model states of its times.
#pragma once

#include <optional>
#include <vector>

#include "replay/compute/compute_times.h"
#include "replay/engine/causes/critical_path.h"
#include "replay/engine/measure/metrics.h"
#include "trace/model/trace.h"

namespace chakra {

struct MakespanRange {
  Time low, high;  // 90 of 100 measurements lie between them
};

// Of the rows that the kernel model answered (ComputeTimes::spread), on the critical path where it is given,
// else on the rank whose rows may be off by most; there, as far as its rows ran at the same time, only their
// share of the time in which any ran counts. Rows of one name, shapes and dtypes have one error, so theirs
// add up. Those of a family share a part of their error (a law that is off is off for all of them): half of
// its variance, kSharedVariance, which adds up linearly; the other half is independent and adds up in
// quadrature, as do families. The run is not replayed again: a path that changes with the times is not seen,
// and neither is waiting that takes up a part of the change. nullopt: the model answered no row.
std::optional<MakespanRange> RangeOfMakespan(const Metrics& metrics, const TraceSet& traces,
                                             const std::vector<ComputeTimes>& times,
                                             const CriticalPath* path);

inline constexpr double kSharedVariance = 0.5;

}  // namespace chakra
