// The known transports between nodes, each a file of this folder in the text format of
// chakra.proto.NetworkTransport. To add one: a file, and nothing else.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra {

// By name, in alphabetical order.
std::vector<std::string> TransportNames();

// The file of that name, with its comments; "": there is none.
absl::string_view TransportText(absl::string_view name);

}  // namespace chakra
