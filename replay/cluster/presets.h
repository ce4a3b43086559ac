// Clusters by name. To add a machine: a file in machines/, and nothing else. Each number has its source
// beside it.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra {

// The text format of chakra.proto.Cluster; "" where no preset has that name. Where it has no `base`, its
// device and the terms of its library stand there whole. The last dimension's size is 0: sized to the trace.
// `collectives.library` has a level for each dimension, the last included.
std::string PresetText(absl::string_view name);
bool IsPreset(absl::string_view name);  // without making its text

std::vector<std::string> PresetNames();

}  // namespace chakra
