#include "trace/et/rank_of.h"

#include <re2/re2.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace chakra {
namespace {

absl::Status Refuse(absl::string_view pattern, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("--rank-of ", pattern, ": ", what,
                                                 "; expected a regular expression with one group that finds "
                                                 "the rank in a file's path, 'TP-(\\d+)', or PATTERN=RANK"));
}

// Removes "=N" from the end of `pattern`. Returns false if there is none.
bool CutRank(std::string* pattern, int* rank) {
  const size_t equals = pattern->rfind('=');
  if (equals == pattern->npos || equals + 1 == pattern->size()) return false;
  const std::string number = pattern->substr(equals + 1);
  if (!std::all_of(number.begin(), number.end(), [](unsigned char c) { return absl::ascii_isdigit(c); }) ||
      !absl::SimpleAtoi(number, rank))
    return false;
  pattern->resize(equals);
  return true;
}

}  // namespace

absl::StatusOr<int> RankByHand(const std::vector<std::string>& patterns, absl::string_view path) {
  for (const std::string& written : patterns) {
    std::string pattern = written;
    int rank = -1;
    const bool fixed = CutRank(&pattern, &rank);
    const RE2 expression(pattern, RE2::Quiet);
    if (!expression.ok()) return Refuse(written, expression.error());
    if (expression.NumberOfCapturingGroups() != (fixed ? 0 : 1))
      return Refuse(written, absl::StrCat("it has ", expression.NumberOfCapturingGroups(), " groups"));
    const re2::StringPiece text(path.data(), path.size());
    if (fixed) {
      if (RE2::PartialMatch(text, expression)) return rank;
      continue;
    }
    std::string found;
    if (!RE2::PartialMatch(text, expression, &found)) continue;
    if (!absl::SimpleAtoi(found, &rank) || rank < 0)
      return Refuse(written,
                    absl::StrCat("in ", path, " its group finds \"", found, "\", which is not a rank"));
    return rank;
  }
  return -1;
}

}  // namespace chakra
