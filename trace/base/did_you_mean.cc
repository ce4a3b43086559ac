#include "trace/base/did_you_mean.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace chakra {
namespace {

std::string Normal(absl::string_view s) {
  std::string out;
  for (char c : s) {
    if (c != '_' && c != '-' && c != ' ') out.push_back(absl::ascii_tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace

size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

std::string NearestName(absl::string_view word, const std::vector<std::string>& candidates) {
  const std::string normal = Normal(word);
  if (normal.empty() || normal.size() > 100) return "";
  size_t best = std::max<size_t>(1, normal.size() / 3) + 1;
  std::string nearest;
  for (const std::string& c : candidates) {
    const std::string other = Normal(c);
    if (std::max(other.size(), normal.size()) - std::min(other.size(), normal.size()) >= best) continue;
    if (const size_t d = EditDistance(normal, other); d < best) {
      best = d;
      nearest = c;
    }
  }
  return nearest;
}

std::string SuggestName(absl::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = NearestName(word, candidates);
  if (!nearest.empty()) return absl::StrCat("; did you mean '", nearest, "'?");
  return absl::StrCat("; known: ", absl::StrJoin(candidates, ", "));
}

std::string NearestOfKnown(absl::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = NearestName(word, candidates);
  return absl::StrCat(nearest.empty() ? "" : absl::StrCat("; did you mean \"", nearest, "\"?"),
                      " Known: ", absl::StrJoin(candidates, ", "));
}

std::string SeeCommand(absl::string_view message, absl::string_view command) {
  return absl::StrCat(message, absl::EndsWith(message, "?") ? " See `" : "; see `", command, "`");
}

}  // namespace chakra
