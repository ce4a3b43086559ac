// Settings of offloading to host memory: activations of layers, and averages of the optimizer.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {

// Reads training.offload and the fields that belong to it. Errors (InvalidArgument) name the field, its value
// and what was expected.
absl::Status TakeOffload(const proto::Training& training, const ModelSize& model, Offload* out);
// Checks settings that frameworks do not allow together with offloading, and those that cannot be generated
// yet.
absl::Status CheckOffload(const StepPlan& plan);

// Bytes of the optimizer's gradients or weights, which are fp32.
inline int64_t CopiedBytes(int64_t weights) { return 4 * weights; }

// The number of weights that the host updates, of the `own` weights that a rank updates.
int64_t UpdatedByHost(const StepPlan& plan, int64_t own);
// The host's time to update `weights` weights, in ns.
int64_t HostUpdateNs(const StepPlan& plan, int64_t weights);

}  // namespace chakra::generate
