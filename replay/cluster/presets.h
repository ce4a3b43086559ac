// Clusters by name. To add a machine, add a file to machines/; nothing else is needed. Each number in it has
// its source next to it.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra {

// A chakra.proto.Cluster in text format; "" if no preset has that name. If it has no `base`, its device and
// the terms of its library are written out. The last dimension's size is 0: it is sized to the trace.
// `collectives.library` has a level for each dimension, the last included.
std::string PresetText(absl::string_view name);
bool IsPreset(absl::string_view name);  // without building its text

std::vector<std::string> PresetNames();

}  // namespace chakra
