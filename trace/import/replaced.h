// Which earlier set of traces is lost when a new set is written.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakra {

// OK if `folder` does not exist, is empty, or holds only an earlier set of traces with the prefix `prefix`
// ("": any single prefix), its groups and its index. Otherwise an error. A caller then writes a new folder
// and replaces this one with it.
absl::Status CheckReplaceable(const std::string& folder, absl::string_view prefix);

// The traces PREFIX.N.et in the folder of `prefix`, compressed or not, by rank: an earlier set, which a new
// one replaces.
std::vector<std::string> TracesOfPrefix(const std::string& prefix);

}  // namespace chakra
