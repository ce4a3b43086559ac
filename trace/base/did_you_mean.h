// Did-you-mean: finds the valid name that is nearest to a wrong one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra {

// The number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`. The time
// is proportional to the product of both lengths, so callers limit the length of users' text.
size_t EditDistance(absl::string_view a, absl::string_view b);

// Returns the candidate nearest to `word`, the first one if several are equally near. Case, '_', '-' and
// blanks do not count. Returns "" if no candidate is within an edit distance of a third of the length of
// `word`.
std::string NearestName(absl::string_view word, const std::vector<std::string>& candidates);

// Returns "; did you mean 'NEAREST'?", or "; known: a, b, c" if no candidate is near.
std::string SuggestName(absl::string_view word, const std::vector<std::string>& candidates);

// Returns "; did you mean \"NEAREST\"? Known: a, b, c", or " Known: a, b, c" if no candidate is near.
std::string NearestOfKnown(absl::string_view word, const std::vector<std::string>& candidates);

// `message` and the command that says more: "...; see `COMMAND`", or "...? See `COMMAND`".
std::string SeeCommand(absl::string_view message, absl::string_view command);

}  // namespace chakra
