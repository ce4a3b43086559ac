// Finds the ends of JSON values in text that may not be valid JSON (RFC 8259).
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace chakra {

inline bool IsJsonBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
inline bool IsHexDigit(char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); }

// Returns the position of the first byte at or after `at` that is not a blank, or text.size() if there is
// none.
size_t AfterJsonBlanks(absl::string_view text, size_t at);

// Whether `word` is a JSON number, true, false or null.
bool IsJsonLiteral(absl::string_view word);

// Returns the position after the string that begins with the quote at `at`, or npos if the string is not
// valid JSON.
size_t JsonStringEnd(absl::string_view text, size_t at);

// The number of open brackets around a key, and the key as written.
using JsonKey = std::pair<size_t, absl::string_view>;

// Returns the position after the object or list at `at`, and appends its keys to `keys`. Returns npos if it
// is not valid JSON or has more than `most` levels.
size_t JsonObjectEnd(absl::string_view text, size_t at, size_t most, std::vector<JsonKey>* keys);

}  // namespace chakra
