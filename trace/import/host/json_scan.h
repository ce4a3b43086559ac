// Finds the borders of values in JSON text without parsing the values, to keep raw text and to find the last
// whole value of a file that was cut short.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra::pytorch {

// The first byte at or after `at` that is not JSON whitespace; text.size() if there is none.
size_t SkipSpace(absl::string_view text, size_t at);

// The position after the value that begins at `at`; npos if the text ends inside the value. Brackets are
// counted, not matched, so the value may be invalid JSON.
size_t SkipValue(absl::string_view text, size_t at);

// Walks through the fields of one whole and valid JSON object, in the order of the text.
class FieldScan {
 public:
  // Precondition: `object` is an object that a JSON parser accepts.
  explicit FieldScan(absl::string_view object) : text_(object) {}
  // The text of the next field's value. Precondition: there is a next field.
  absl::string_view Next();

 private:
  absl::string_view text_;
  size_t at_ = 0;
};

// At most `limit` bytes of a valid JSON value, cut after a whole element. Open brackets are closed, so the
// result is valid JSON.
std::string CutValue(absl::string_view value, size_t limit);

// `json` with quotes around nan, inf and infinity (any case, with or without sign) outside of strings, as
// newer writers have them. Empty if there are none.
std::string QuoteNonNumbers(absl::string_view json);

}  // namespace chakra::pytorch
