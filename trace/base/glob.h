// Matches names against patterns with wildcards.
#pragma once

#include "absl/strings/string_view.h"

namespace chakra {

// Whether `pattern` matches all of `text`. '*' matches any text, including none; the character `one`, unless
// it is 0, matches any single character; every other character matches itself. Case-sensitive.
bool MatchesGlob(absl::string_view pattern, absl::string_view text, char one = 0);

}  // namespace chakra
