// What may be lost where a set of traces is written.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakra {

// An error unless `folder` is not there, is empty, or holds nothing but an earlier set of traces of the name
// `prefix` ("": of any one name) with its groups and its index: a folder that is written whole takes its
// place.
absl::Status CheckReplaceable(const std::string& folder, absl::string_view prefix);

// The traces PREFIX.N.et in the folder of `prefix`, whatever their compression, by rank: an earlier set,
// which a new one takes the place of.
std::vector<std::string> TracesOfPrefix(const std::string& prefix);

}  // namespace chakra
