// The known transports between nodes, each a file of this folder in the text format of
// chakra.proto.NetworkTransport. To add one: a file, and nothing else.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra {

// The names of all files, in alphabetical order.
std::vector<std::string> TransportNames();

// The text of the file with this name, including comments; "" if there is none.
absl::string_view TransportText(absl::string_view name);

}  // namespace chakra
