// Converts tokens of a Kineto file to values. Does not use doubles, which cannot hold a 16-digit time with a
// fraction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra::pytorch::kineto {

// Converts a JSON number of microseconds to nanoseconds. Exact, except that digits below a nanosecond are
// rounded, half away from zero. False: not a finite number, or beyond 64 bits.
bool ToNanos(absl::string_view token, int64_t* ns);

// Reads a whole JSON number, or a string that holds one (decimal or "0x..."). Numbers from 2^63 to 2^64 - 1
// become negative, because some writers print -1 as unsigned. False for any other token.
bool ToInteger(absl::string_view token, int64_t* out);

// The token without its quotes, if it has any.
inline absl::string_view Plain(absl::string_view token) {
  return token.size() >= 2 && token.front() == '"' ? token.substr(1, token.size() - 2) : token;
}

// The text of a JSON string token (quotes included in `token`). `out` points into `token` or into `scratch`.
// Escapes that JSON does not define stay as written and are counted in `bad_escapes`. False: not a string.
bool ToText(absl::string_view token, std::string* scratch, absl::string_view* out, uint64_t* bad_escapes);

// Reads "[0, 1, 2]", an array or a string that holds one. `cut`: the list has a "..."; the listed integers
// are returned nevertheless. False for any other token.
bool ToIntegers(absl::string_view token, std::vector<int64_t>* out, bool* cut);

// JSON text without the line breaks and indentation of a pretty printer. Text without line breaks is returned
// unchanged.
absl::string_view WithoutLayout(absl::string_view json, std::string* scratch);

}  // namespace chakra::pytorch::kineto
