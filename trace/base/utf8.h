// Makes text of arbitrary bytes valid for protobuf strings and JSON.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// Returns `s` with every byte that is not part of well-formed UTF-8 replaced by U+FFFD.
std::string ToUtf8(absl::string_view s);

// The length in bytes of the well-formed UTF-8 sequence at the beginning of `s`; 0 if there is none.
size_t Utf8Length(absl::string_view s);

// The length in bytes of the longest well-formed prefix of `s`.
size_t ValidUtf8Prefix(absl::string_view s);

}  // namespace chakra
