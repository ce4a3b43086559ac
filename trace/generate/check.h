// Whether the parts of a workload fit together.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {

// What cannot be shared equally, and what is not generated yet. Errors (InvalidArgument, Unimplemented) name
// the field, its value and the nearest that would do.
absl::Status CheckPlan(const StepPlan& plan);

// "; the nearest is N": the multiple of `unit` (> 0) that is nearest to `v`, but not 0.
std::string NearestMultiple(int64_t v, int64_t unit);
// The divisor of `of` (> 0) that is nearest to `v`.
int64_t DivisorNear(int64_t v, int64_t of);
// "; the nearest is N": that divisor.
std::string NearestDivisor(int64_t v, int64_t of);

}  // namespace chakra::generate
