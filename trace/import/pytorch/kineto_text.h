// Tokens of a Kineto file, as they stand in the text, to values. No doubles:
// a 16-digit time with a fraction does not fit one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra::pytorch::kineto {

// A JSON number in microseconds to nanoseconds: exact; digits beyond the
// nanosecond are rounded, half away from zero. False: not a finite number, or
// beyond 64 bits.
bool ToNanos(absl::string_view token, int64_t* ns);

// A whole JSON number, or a string that holds one (decimal or "0x..."). Numbers
// above 2^63 wrap, as writers print -1 as unsigned. False: anything else.
bool ToInteger(absl::string_view token, int64_t* out);

// The text of a JSON string token (quotes included in `token`). `out` points
// into `token` or into `scratch`. Escapes that JSON does not know are kept as
// they stand and counted in `bad_escapes`. False: not a string.
bool ToText(absl::string_view token, std::string* scratch, absl::string_view* out, uint64_t* bad_escapes);

// "[0, 1, 2]", as an array or as a string that holds one. `cut` tells of a "..."
// in it; what is listed is returned all the same. False: anything else.
bool ToIntegers(absl::string_view token, std::vector<int64_t>* out, bool* cut);

// JSON text without the line breaks and indentation of a pretty printer. Text
// without line breaks is returned as it is.
absl::string_view WithoutLayout(absl::string_view json, std::string* scratch);

}  // namespace chakra::pytorch::kineto
