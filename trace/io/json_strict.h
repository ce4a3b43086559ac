// Where pieces of JSON end in a text that may be none (RFC 8259).
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace chakra {

inline bool IsJsonBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
inline bool IsHexDigit(char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); }

// The first byte from `at` on that is no blank; the text's size if there is none.
size_t AfterJsonBlanks(absl::string_view text, size_t at);

// Whether a word is a JSON number, true, false or null.
bool IsJsonLiteral(absl::string_view word);

// One past the string whose first quote is at `at`; npos: it is not JSON's.
size_t JsonStringEnd(absl::string_view text, size_t at);

// A key, as written, and how many brackets are open around it.
using JsonKey = std::pair<size_t, absl::string_view>;

// One past the object or list at `at`, whose keys are added to `keys`; npos: it is not JSON, or has more than
// `most` levels.
size_t JsonObjectEnd(absl::string_view text, size_t at, size_t most, std::vector<JsonKey>* keys);

}  // namespace chakra
