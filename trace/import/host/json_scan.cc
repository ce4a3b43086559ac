#include "trace/import/host/json_scan.h"

#include <array>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace chakra::pytorch {
namespace {

constexpr size_t kNotFound = absl::string_view::npos;

// The position after the string whose opening quote is at `at`.
size_t SkipString(absl::string_view text, size_t at) {
  for (size_t from = at + 1; from < text.size();) {
    const void* quote = std::memchr(text.data() + from, '"', text.size() - from);
    if (quote == nullptr) return kNotFound;
    const size_t found = static_cast<size_t>(static_cast<const char*>(quote) - text.data());
    size_t slashes = 0;
    while (text[found - 1 - slashes] == '\\') ++slashes;  // stops at the opening quote at the latest
    if (slashes % 2 == 0) return found + 1;
    from = found + 1;
  }
  return kNotFound;
}

// The kind of each byte: 1 opens, 2 closes, 3 begins a string, 0 is any other byte.
constexpr std::array<unsigned char, 256> MakeKinds() {
  std::array<unsigned char, 256> kinds{};
  kinds['{'] = kinds['['] = 1;
  kinds['}'] = kinds[']'] = 2;
  kinds['"'] = 3;
  return kinds;
}
constexpr std::array<unsigned char, 256> kKinds = MakeKinds();

unsigned char KindOf(char c) { return kKinds[static_cast<unsigned char>(c)]; }

bool IsNonNumber(absl::string_view word) {
  if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.remove_prefix(1);
  return absl::EqualsIgnoreCase(word, "nan") || absl::EqualsIgnoreCase(word, "inf") ||
         absl::EqualsIgnoreCase(word, "infinity");
}

}  // namespace

size_t SkipSpace(absl::string_view text, size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) {
    ++at;
  }
  return at;
}

size_t SkipValue(absl::string_view text, size_t at) {
  if (at >= text.size()) return kNotFound;
  if (text[at] == '"') return SkipString(text, at);
  if (KindOf(text[at]) != 1) {  // a number or a word
    const size_t end = text.find_first_of(",]} \n\r\t:", at);
    return end == kNotFound ? kNotFound : end;
  }
  size_t depth = 0;
  for (size_t i = at; i < text.size(); ++i) {
    const unsigned char kind = KindOf(text[i]);
    if (kind == 0) continue;
    if (kind == 1) {
      ++depth;
    } else if (kind == 2) {
      if (--depth == 0) return i + 1;
    } else {
      const size_t end = SkipString(text, i);
      if (end == kNotFound) return kNotFound;
      i = end - 1;
    }
  }
  return kNotFound;
}

absl::string_view FieldScan::Next() {
  at_ = SkipSpace(text_, at_);
  at_ = SkipSpace(text_, at_ + 1);                 // past '{' or ','
  at_ = SkipSpace(text_, SkipValue(text_, at_));   // past the key
  const size_t begin = SkipSpace(text_, at_ + 1);  // past ':'
  at_ = SkipValue(text_, begin);
  return text_.substr(begin, at_ - begin);
}

std::string CutValue(absl::string_view value, size_t limit) {
  if (value.size() <= limit) return std::string(value);
  if (KindOf(value[0]) != 1) return "\"\"";  // a single string: a part of a string is not a value
  std::string open, best_open(1, value[0] == '{' ? '}' : ']');
  size_t best = 1;  // length of the longest prefix that only lacks closing brackets
  for (size_t i = 0; i < value.size() && i + open.size() < limit; ++i) {
    const char c = value[i];
    const unsigned char kind = KindOf(c);
    if (kind == 1) {
      open.push_back(c == '{' ? '}' : ']');
    } else if (kind == 2) {
      open.pop_back();
    } else if (kind == 3) {
      i = SkipString(value, i) - 1;
    }
    if ((kind == 2 || c == ',') && i + open.size() < limit) {
      best = i + (kind == 2 ? 1 : 0);
      best_open = open;
    }
  }
  return std::string(value.substr(0, best)) + std::string(best_open.rbegin(), best_open.rend());
}

std::string QuoteNonNumbers(absl::string_view json) {
  std::string out;
  bool any = false;
  for (size_t i = 0; i < json.size();) {
    size_t end = i + 1;
    if (json[i] == '"') {
      end = SkipString(json, i);
      if (end == kNotFound) return "";
    } else if (absl::ascii_isalnum(static_cast<unsigned char>(json[i])) || json[i] == '-' || json[i] == '+') {
      while (end < json.size() && absl::ascii_isalpha(static_cast<unsigned char>(json[end]))) ++end;
      if (IsNonNumber(json.substr(i, end - i))) {
        any = true;
        out.push_back('"');
        out.append(json.data() + i, end - i);
        out.push_back('"');
        i = end;
        continue;
      }
    }
    out.append(json.data() + i, end - i);
    i = end;
  }
  return any ? out : "";
}

}  // namespace chakra::pytorch
