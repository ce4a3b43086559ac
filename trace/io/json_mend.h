// Text that its writer meant as JSON, made JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// What was mended, of one kind.
struct JsonFault {
  const char* kind = "";  // "json_missing_comma"
  std::string detail;     // for people, with the byte of the first one
  uint64_t count = 0;
};

struct MendedJson {
  std::string text;
  std::vector<JsonFault> faults;  // empty: the text was JSON, or ends before its JSON does
};

// Mends what writers of traces are known to do: superfluous and missing commas, unescaped quotes and control
// characters in strings, escapes that JSON does not know, words without quotes (also as keys). An element of
// a list that is JSON stays as it is. Where a string with quotes inside ends is told by what follows: a key
// that other elements have, or brackets that close what is open. A text that ends early is mended up to its
// end. Several values may follow one another. InvalidArgument: what cannot be mended, with file, line, column
// and byte.
absl::StatusOr<MendedJson> MendJson(absl::string_view text, absl::string_view file);

}  // namespace chakra
