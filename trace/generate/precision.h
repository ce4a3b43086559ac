// The dtypes of GEMMs: layers that stay in bf16, and modules of another dtype.
#pragma once

#include "absl/status/status.h"
#include "proto/workload.pb.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {

// Sets the dtype, the scales and the exceptions of `out`. Errors (InvalidArgument) name the field, its value
// and what was expected: a list that names no layer, a dtype that is none of GEMMs, exceptions with fp16.
absl::Status TakePrecision(const proto::Training& t, const ModelSize& model, TrainingPlan* out);
// Errors: a module without GEMMs; exceptions that cannot be generated yet.
absl::Status CheckPrecision(const StepPlan& plan);

}  // namespace chakra::generate
