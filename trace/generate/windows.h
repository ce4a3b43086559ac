// The layers of a model that have windows, chunks and rotary positions.
#pragma once

#include <bitset>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {

// The functions below set fields of `out` from those of the model. `out` must already have its layers, latent
// attention, rope and the flags of norms, and TakeChunks() must follow TakeWindow(). Errors (InvalidArgument)
// name the field, its value and what was expected.
absl::Status TakeWindow(const proto::Model& model, ModelSize* out);
absl::Status TakeChunks(const proto::Model& model, ModelSize* out);

// Reads layers from 0 to layers - 1 in the form of Model::window_layers; "": all. Errors name `field`.
absl::Status TakeLayers(absl::string_view field, std::string text, int64_t layers, std::bitset<1024>* out);

// Reads the settings of sparse attention. Errors as above.
absl::Status TakeIndexer(const proto::Model& m, ModelSize* out);

}  // namespace chakra::generate
