#include "trace/io/json_strict.h"

#include <string>

#include "absl/strings/match.h"

namespace chakra {
namespace {

constexpr size_t kNowhere = absl::string_view::npos;

enum class Expect { kValue, kValueOrEnd, kKey, kKeyOrEnd, kColon, kCommaOrEnd };

}  // namespace

size_t AfterJsonBlanks(absl::string_view text, size_t at) {
  while (at < text.size() && IsJsonBlank(text[at])) ++at;
  return at;
}

bool IsJsonLiteral(absl::string_view word) {
  if (word == "true" || word == "false" || word == "null") return true;
  size_t i = 0;
  const auto digits = [&] {
    const size_t from = i;
    while (i < word.size() && absl::ascii_isdigit(static_cast<unsigned char>(word[i]))) ++i;
    return i > from;
  };
  if (i < word.size() && word[i] == '-') ++i;
  const size_t whole = i;
  if (!digits() || (word[whole] == '0' && i > whole + 1)) return false;
  if (i < word.size() && word[i] == '.' && (++i, !digits())) return false;
  if (i < word.size() && (word[i] == 'e' || word[i] == 'E')) {
    ++i;
    if (i < word.size() && (word[i] == '+' || word[i] == '-')) ++i;
    if (!digits()) return false;
  }
  return i == word.size();
}

size_t JsonStringEnd(absl::string_view text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') return i + 1;
    if (static_cast<unsigned char>(c) < 0x20) return kNowhere;
    if (c != '\\') continue;
    if (++i >= text.size()) return kNowhere;
    if (text[i] == 'u') {
      for (int k = 0; k < 4; ++k) {
        if (++i >= text.size() || !IsHexDigit(text[i])) return kNowhere;
      }
    } else if (!absl::StrContains("\"\\/bfnrt", text[i])) {
      return kNowhere;
    }
  }
  return kNowhere;
}

size_t JsonObjectEnd(absl::string_view text, size_t at, size_t most, std::vector<JsonKey>* keys) {
  std::string open;
  Expect expect = Expect::kValue;
  while ((at = AfterJsonBlanks(text, at)) < text.size()) {
    const char c = text[at];
    const bool closes = c == '}' || c == ']';
    if (closes) {
      const bool may =
          expect == Expect::kCommaOrEnd || expect == (c == '}' ? Expect::kKeyOrEnd : Expect::kValueOrEnd);
      if (!may || open.back() != (c == '}' ? '{' : '[')) return kNowhere;
      open.pop_back();
      ++at;
      if (open.empty()) return at;
      expect = Expect::kCommaOrEnd;
    } else if (expect == Expect::kCommaOrEnd || expect == Expect::kColon) {
      if (c != (expect == Expect::kColon ? ':' : ',')) return kNowhere;
      expect = expect == Expect::kColon || open.back() == '[' ? Expect::kValue : Expect::kKey;
      ++at;
    } else if (c == '"') {
      const bool key = expect == Expect::kKey || expect == Expect::kKeyOrEnd;
      const size_t end = JsonStringEnd(text, at);
      if (end == kNowhere) return kNowhere;
      if (key) keys->emplace_back(open.size(), text.substr(at + 1, end - at - 2));
      expect = key ? Expect::kColon : Expect::kCommaOrEnd;
      at = end;
    } else if (expect == Expect::kKey || expect == Expect::kKeyOrEnd) {
      return kNowhere;
    } else if (c == '{' || c == '[') {
      if (open.size() >= most) return kNowhere;
      open.push_back(c);
      expect = c == '{' ? Expect::kKeyOrEnd : Expect::kValueOrEnd;
      ++at;
    } else {
      size_t end = at;
      while (end < text.size() && !IsJsonBlank(text[end]) && !absl::StrContains(",:{}[]\"", text[end])) ++end;
      if (!IsJsonLiteral(text.substr(at, end - at))) return kNowhere;
      expect = Expect::kCommaOrEnd;
      at = end;
    }
  }
  return kNowhere;
}

}  // namespace chakra
