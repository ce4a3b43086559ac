// Clusters by name. To add a machine: a file in machines/, and nothing else. The older ones: its parts of a
// text-format Cluster in a file under presets/ but for the device, which goes to presets/devices.cc, and a
// line in presets.cc. Each number has its source beside it.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra {

// The text format of chakra.proto.Cluster; "" where no preset has that name.
// The last dimension's size is 0: sized to the trace. `collectives.library` has
// a level for each dimension, the last included.
std::string PresetText(absl::string_view name);

std::vector<std::string> PresetNames();

}  // namespace chakra
