// Finds the borders of values in JSON text without reading what lies between
// them: raw text to keep, and where a file that was cut short still is whole.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra::pytorch {

// The first byte at or after `at` that is no JSON whitespace; text.size() when
// there is none.
size_t SkipSpace(absl::string_view text, size_t at);

// One past the value that begins at `at`, npos when the text ends before it
// does. Brackets are counted, not matched: what was found may still be no JSON.
size_t SkipValue(absl::string_view text, size_t at);

// The fields of one whole and valid JSON object, in the order of the text.
class FieldScan {
 public:
  // Precondition: a JSON parser accepts `object`, an object.
  explicit FieldScan(absl::string_view object) : text_(object) {}
  // The text of the next field's value. Precondition: there is one.
  absl::string_view Next();

 private:
  absl::string_view text_;
  size_t at_ = 0;
};

// At most `limit` bytes of a valid JSON value: cut after a whole element, and
// closed again, so that it stays valid.
std::string CutValue(absl::string_view value, size_t limit);

// `json` with nan, inf and Infinity (any case, signed) outside of strings put
// into quotes, as newer writers do. Empty when there are none.
std::string QuoteNonNumbers(absl::string_view json);

}  // namespace chakra::pytorch
