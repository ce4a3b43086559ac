// Text that may be any bytes, made fit for protobuf strings and JSON.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// `s` with every byte that is no part of well-formed UTF-8 replaced by U+FFFD.
std::string ToUtf8(absl::string_view s);

// Bytes of the well-formed sequence at the start of `s`; 0: there is none.
size_t Utf8Length(absl::string_view s);

// Bytes of the longest beginning of `s` that is well-formed.
size_t ValidUtf8Prefix(absl::string_view s);

}  // namespace chakra
