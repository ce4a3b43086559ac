// Clusters by name. To add one: a text-format Cluster in its own file under
// presets/, and a line in presets.cc.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra {

// The text format of chakra.proto.Cluster; "" where no preset has that name.
// The last dimension's size is 0: sized to the trace.
absl::string_view PresetText(absl::string_view name);
std::vector<std::string> PresetNames();

}  // namespace chakra
