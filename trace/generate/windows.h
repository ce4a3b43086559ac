// Which layers of a model have windows, chunks and rotary positions.
#pragma once

#include "absl/status/status.h"
#include "proto/workload.pb.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {

// Set the fields of a size by those of the model. `out` has layers, latent attention, rope and the flags of
// norms already, and, before its chunks, its windows. Errors (InvalidArgument) name the field, its value and
// what was expected.
absl::Status TakeWindow(const proto::Model& model, ModelSize* out);
absl::Status TakeChunks(const proto::Model& model, ModelSize* out);

}  // namespace chakra::generate
