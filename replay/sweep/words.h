// Command lines as text.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra::sweep {

// Splits as a POSIX shell does: blanks separate, '...' is literal, "..." but for \" and \\, \ takes the next
// character. {...} is taken as it stands, blanks and quotes too; nothing is expanded.
// Errors (InvalidArgument): a quote or brace that is not closed, with its column.
absl::StatusOr<std::vector<std::string>> SplitWords(absl::string_view text);

// Words as a shell takes them, in '...' where needed.
std::string QuoteWords(const std::vector<std::string>& words);

// As QuoteWords(), of one word.
std::string QuoteWord(absl::string_view word);

}  // namespace chakra::sweep
