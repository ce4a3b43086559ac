// Fills in the defaults of a workload, and checks that its parts fit together.
#pragma once

#include "absl/status/statusor.h"
#include "proto/workload.pb.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {

// Fills in the defaults of proto/workload.proto. Presets and files are read before (workload.h). Errors
// (InvalidArgument) name the field, its value, what was expected, and the nearest valid value: a field that
// is missing or out of range, sizes that do not divide, and settings that cannot be generated yet. `domain`:
// the number of neighbouring ranks that NVLink connects, if the workload does not set parallel.domain; 0: not
// known, kUsualDomain is used. StepPlan::workload of a step with experts has the domain that was used.
absl::StatusOr<StepPlan> ResolvePlan(const proto::Workload& workload, int domain = 0);

// Resolves a transformer. Errors: also a recommendation model.
absl::StatusOr<ModelSize> ResolveModel(const proto::Model& model);

}  // namespace chakra::generate
