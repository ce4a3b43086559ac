// Models by name.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"

namespace chakra::generate {

// The sizes of a model, with the preset's name and source. Errors (InvalidArgument): an unknown preset, with
// the nearest one.
absl::StatusOr<proto::Model> FindPreset(absl::string_view name);

// The names in alphabetical order.
std::vector<std::string> PresetNames();

}  // namespace chakra::generate
