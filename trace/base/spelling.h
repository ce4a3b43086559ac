// What a misspelt word was meant to be.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra {

// Insertions, deletions, substitutions and swaps of neighbours that make `b` of `a`. Takes a time of the
// product of both lengths: callers cap what users may make long.
size_t EditDistance(absl::string_view a, absl::string_view b);

// The candidate that `word` is most likely a misspelling of; the first of equals.
// Case, '_', '-' and blanks do not count. "" when nothing is within a third of
// the word's length in edits.
std::string NearestName(absl::string_view word, const std::vector<std::string>& candidates);

// "; did you mean 'NEAREST'?", or "; known: a, b, c" when nothing is near.
std::string SuggestName(absl::string_view word, const std::vector<std::string>& candidates);

// "; did you mean \"NEAREST\"? Known: a, b, c", or " Known: a, b, c" when nothing is near.
std::string NearestOfKnown(absl::string_view word, const std::vector<std::string>& candidates);

}  // namespace chakra
