#include "trace/base/glob.h"

#include <cstddef>

namespace chakra {

bool MatchesGlob(absl::string_view pattern, absl::string_view text, char one) {
  size_t p = 0, t = 0, star = absl::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && (pattern[p] == text[t] || (one != 0 && pattern[p] == one))) {
      ++p;
      ++t;
    } else if (star != absl::string_view::npos) {  // let the star match one more character
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace chakra
