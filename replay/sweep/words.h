// Converts command lines from and to text.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra::sweep {

// Splits text as a POSIX shell does: blanks separate words; '...' is literal; "..." is literal except for \"
// and \\; \ quotes the next character. {...} is kept as it is, with blanks and quotes. Nothing is expanded.
// Errors (InvalidArgument): a quote or brace that is not closed, with its column.
absl::StatusOr<std::vector<std::string>> SplitWords(absl::string_view text);

// Joins words so that a shell reads them back, with '...' where needed.
std::string QuoteWords(const std::vector<std::string>& words);

// QuoteWords() for one word.
std::string QuoteWord(absl::string_view word);

}  // namespace chakra::sweep
