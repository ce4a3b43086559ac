// Checks whether the settings of a workload fit together.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {

// Checks that all shares are equal, and that the step can be generated. Errors (InvalidArgument,
// Unimplemented) name the field, its value and the nearest valid value.
absl::Status CheckPlan(const StepPlan& plan);

// "; the nearest is N": the multiple of `unit` (> 0) that is nearest to `v`, but not 0.
std::string NearestMultiple(int64_t v, int64_t unit);
// The divisor of `of` (> 0) that is nearest to `v`.
int64_t DivisorNear(int64_t v, int64_t of);
// "; the nearest is N", where N is that divisor.
std::string NearestDivisor(int64_t v, int64_t of);

}  // namespace chakra::generate
