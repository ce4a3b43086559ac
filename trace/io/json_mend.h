// Repairs text that was meant as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// All repairs of one kind.
struct JsonFault {
  const char* kind = "";  // "json_missing_comma"
  std::string detail;     // for people, with the byte position of the first repair
  uint64_t count = 0;
};

struct MendedJson {
  std::string text;
  std::vector<JsonFault> faults;  // empty: the text is valid JSON, or truncated but otherwise valid
};

// Repairs the errors that known writers of traces make: superfluous and missing commas, unescaped quotes and
// control characters in strings, invalid escapes, and words (also keys) without quotes. Valid elements of a
// list stay as they are. If a string has quotes inside, its end is found from the text that follows: a key
// that other elements have, or brackets that close open ones. A truncated text is repaired up to its end. The
// text may hold several values, one after another. Error (InvalidArgument): the text cannot be repaired; with
// file, line, column and byte.
absl::StatusOr<MendedJson> MendJson(absl::string_view text, absl::string_view file);

}  // namespace chakra
