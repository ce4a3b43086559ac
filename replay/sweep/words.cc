#include "replay/sweep/words.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace chakra::sweep {

absl::StatusOr<std::vector<std::string>> SplitWords(absl::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool any = false;  // a word has begun; the word may be empty
  size_t i = 0;
  const auto unclosed = [&](char quote, size_t begin) {
    return absl::InvalidArgumentError(
        absl::StrCat("column ", begin + 1, ": ", absl::string_view(&quote, 1), " is never closed"));
  };
  while (i < text.size()) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      const size_t begin = i++;
      any = true;
      while (i < text.size() && text[i] != c) {
        if (c == '"' && text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\'))
          ++i;
        word += text[i++];
      }
      if (i == text.size()) return unclosed(c, begin);
      ++i;
    } else if (absl::ascii_isspace(static_cast<unsigned char>(c))) {
      if (any) words.push_back(word);
      word.clear();
      any = false;
      ++i;
    } else if (c == '{' && text.substr(i + 1, 1) != "{") {
      const size_t end = text.find('}', i);
      if (end == text.npos) return unclosed(c, i);
      any = true;
      word += std::string(text.substr(i, end + 1 - i));
      i = end + 1;
    } else {
      if (c == '{') word += text[i++];
      if (c == '\\' && ++i == text.size()) {
        return absl::InvalidArgumentError(absl::StrCat("column ", i, ": nothing follows the last \\"));
      }
      any = true;
      word += text[i++];
    }
  }
  if (any) words.push_back(word);
  return words;
}

std::string QuoteWord(absl::string_view word) {
  constexpr absl::string_view kSafe = "%+,-./:=@_";
  bool safe = !word.empty();
  for (const char c : word) {
    safe = safe && (absl::ascii_isalnum(static_cast<unsigned char>(c)) || kSafe.find(c) != kSafe.npos);
  }
  if (safe) return std::string(word);
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

std::string QuoteWords(const std::vector<std::string>& words) {
  return absl::StrJoin(words, " ", [](std::string* out, const std::string& w) { out->append(QuoteWord(w)); });
}

}  // namespace chakra::sweep
