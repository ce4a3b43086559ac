// Text that may be any bytes, made fit for protobuf strings and JSON.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// `s` with every byte that is no part of well-formed UTF-8 replaced by U+FFFD.
std::string ToUtf8(absl::string_view s);

}  // namespace chakra
