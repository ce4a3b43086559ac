// Makes text that may hold any bytes fit for protobuf strings and JSON.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// `s` with U+FFFD in place of every byte that is not part of well-formed UTF-8.
std::string ToUtf8(absl::string_view s);

// The length in bytes of the well-formed UTF-8 sequence at the start of `s`; 0 if there is none.
size_t Utf8Length(absl::string_view s);

// Bytes of the longest beginning of `s` that is well-formed.
size_t ValidUtf8Prefix(absl::string_view s);

}  // namespace chakra
