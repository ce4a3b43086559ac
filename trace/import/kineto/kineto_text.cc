#include "trace/import/kineto/kineto_text.h"

#include <algorithm>
#include <limits>

#include "trace/base/ascii.h"

namespace chakra::pytorch::kineto {
namespace {

// The parts of a JSON number: sign, digits without the point, and the place of the point.
struct Decimal {
  bool negative = false;
  std::string digits;
  int64_t point = 0;
};

bool Split(absl::string_view t, Decimal* d) {
  size_t i = 0;
  d->negative = !t.empty() && t[0] == '-';
  if (d->negative) ++i;
  bool any = false;
  for (; i < t.size() && IsDigit(t[i]); ++i, any = true) d->digits.push_back(t[i]);
  d->point = static_cast<int64_t>(d->digits.size());
  if (i < t.size() && t[i] == '.') {
    for (++i; i < t.size() && IsDigit(t[i]); ++i, any = true) d->digits.push_back(t[i]);
  }
  if (!any) return false;
  if (i < t.size() && (t[i] == 'e' || t[i] == 'E')) {
    ++i;
    const bool minus = i < t.size() && t[i] == '-';
    if (i < t.size() && (t[i] == '-' || t[i] == '+')) ++i;
    if (i == t.size()) return false;
    int64_t exponent = 0;
    for (; i < t.size() && IsDigit(t[i]); ++i)
      exponent = std::min<int64_t>(exponent * 10 + (t[i] - '0'), 1000000);
    d->point += minus ? -exponent : exponent;
  }
  return i == t.size();
}

// token x 10^scale, rounded half away from zero. `exact`: false if a digit was lost.
bool ScaledDecimal(absl::string_view token, int scale, int64_t* out, bool* exact) {
  Decimal d;
  if (!Split(token, &d)) return false;
  const size_t zeros = std::min(d.digits.find_first_not_of('0'), d.digits.size());
  d.digits.erase(0, zeros);
  d.point -= static_cast<int64_t>(zeros);
  const int64_t whole = d.point + scale;
  const auto size = static_cast<int64_t>(d.digits.size());
  if (size > 0 && whole > 19) return false;
  unsigned __int128 v = 0;
  for (int64_t i = 0; i < whole; ++i) v = v * 10 + (i < size ? d.digits[i] - '0' : 0);
  if (whole >= 0 && whole < size && d.digits[whole] >= '5') ++v;
  *exact = d.digits.find_last_not_of('0') == std::string::npos ||
           static_cast<int64_t>(d.digits.find_last_not_of('0')) < whole;
  if (v > static_cast<unsigned __int128>(std::numeric_limits<int64_t>::max())) return false;
  *out = d.negative ? -static_cast<int64_t>(v) : static_cast<int64_t>(v);
  return true;
}

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The value of four hexadecimal digits; -1 if there are not four.
int32_t Unit(absl::string_view s, size_t at) {
  if (at + 4 > s.size()) return -1;
  int32_t v = 0;
  for (size_t i = at; i < at + 4; ++i) {
    if (HexDigit(s[i]) < 0) return -1;
    v = v * 16 + HexDigit(s[i]);
  }
  return v;
}

void AppendUtf8(uint32_t c, std::string* out) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out->push_back(static_cast<char>(0xc0 | c >> 6));
    out->push_back(static_cast<char>(0x80 | (c & 63)));
  } else if (c < 0x10000) {
    out->push_back(static_cast<char>(0xe0 | c >> 12));
    out->push_back(static_cast<char>(0x80 | (c >> 6 & 63)));
    out->push_back(static_cast<char>(0x80 | (c & 63)));
  } else {
    out->push_back(static_cast<char>(0xf0 | c >> 18));
    out->push_back(static_cast<char>(0x80 | (c >> 12 & 63)));
    out->push_back(static_cast<char>(0x80 | (c >> 6 & 63)));
    out->push_back(static_cast<char>(0x80 | (c & 63)));
  }
}

// s[at] is the 'u' of "\uXXXX". Appends the character (U+FFFD for half of a pair) and returns how many bytes
// of `s` were used; 0: not a valid escape.
size_t AppendUnicode(absl::string_view s, size_t at, std::string* out) {
  const int32_t first = Unit(s, at + 1);
  if (first < 0) return 0;
  if (first < 0xd800 || first > 0xdfff) {
    AppendUtf8(static_cast<uint32_t>(first), out);
    return 5;
  }
  if (first < 0xdc00 && at + 6 < s.size() && s[at + 5] == '\\' && s[at + 6] == 'u') {
    const int32_t second = Unit(s, at + 7);
    if (second >= 0xdc00 && second <= 0xdfff) {
      AppendUtf8(
          0x10000 + ((static_cast<uint32_t>(first) & 0x3ff) << 10 | (static_cast<uint32_t>(second) & 0x3ff)),
          out);
      return 11;
    }
  }
  AppendUtf8(0xfffd, out);
  return 5;
}

void Unescape(absl::string_view s, std::string* out, uint64_t* bad) {
  constexpr absl::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
  out->clear();
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\\' || i + 1 == s.size()) {
      out->push_back(s[i]);
      continue;
    }
    const size_t known = kFrom.find(s[i + 1]);
    if (known != absl::string_view::npos) {
      out->push_back(kTo[known]);
      ++i;
    } else if (const size_t taken = s[i + 1] == 'u' ? AppendUnicode(s, i + 1, out) : 0; taken > 0) {
      i += taken;
    } else {
      out->push_back('\\');
      ++*bad;
    }
  }
}

bool Unquote(absl::string_view* token) {
  if (token->size() < 2 || token->front() != '"' || token->back() != '"') return false;
  *token = token->substr(1, token->size() - 2);
  return true;
}

bool HexInteger(absl::string_view t, int64_t* out) {
  if (t.size() < 3 || t.size() > 18 || t[0] != '0' || (t[1] | 0x20) != 'x') return false;
  uint64_t v = 0;
  for (const char c : t.substr(2)) {
    if (HexDigit(c) < 0) return false;
    v = v * 16 + static_cast<uint64_t>(HexDigit(c));
  }
  *out = static_cast<int64_t>(v);
  return true;
}

}  // namespace

bool ToNanos(absl::string_view t, int64_t* ns) {
  const size_t sign = !t.empty() && t[0] == '-' ? 1 : 0;
  uint64_t v = 0;
  size_t i = sign;
  for (; i < t.size() && IsDigit(t[i]); ++i) v = v * 10 + static_cast<uint64_t>(t[i] - '0');
  const size_t whole = i - sign;
  size_t fraction = 0;
  if (whole > 0 && whole <= 16) {  // the common case: at most 16 digits and a fraction of at most 3
    if (i + 1 < t.size() && t[i] == '.') {
      for (++i; i < t.size() && fraction < 3 && IsDigit(t[i]); ++i, ++fraction) {
        v = v * 10 + static_cast<uint64_t>(t[i] - '0');
      }
    }
    constexpr uint64_t kScale[] = {1000, 100, 10, 1};
    if (i == t.size() && v <= uint64_t{9000000000000000000} / kScale[fraction]) {
      const auto n = static_cast<int64_t>(v * kScale[fraction]);
      *ns = sign ? -n : n;
      return true;
    }
  }
  bool exact;
  return ScaledDecimal(t, 3, ns, &exact);
}

bool ToInteger(absl::string_view t, int64_t* out) {
  if (Unquote(&t) && HexInteger(t, out)) return true;
  const size_t sign = !t.empty() && t[0] == '-' ? 1 : 0;
  uint64_t v = 0;
  size_t i = sign;
  bool wide = false;
  for (; i < t.size() && IsDigit(t[i]); ++i) {
    wide |= __builtin_mul_overflow(v, uint64_t{10}, &v) ||
            __builtin_add_overflow(v, static_cast<uint64_t>(t[i] - '0'), &v);
  }
  if (i == t.size() && i > sign) {
    if (wide || (sign && v > uint64_t{1} << 63)) return false;
    *out = static_cast<int64_t>(sign ? 0 - v : v);
    return true;
  }
  bool exact = false;
  return ScaledDecimal(t, 0, out, &exact) && exact;
}

bool ToText(absl::string_view token, std::string* scratch, absl::string_view* out, uint64_t* bad_escapes) {
  if (!Unquote(&token)) return false;
  *out = token;
  if (token.find('\\') != absl::string_view::npos) {
    Unescape(token, scratch, bad_escapes);
    *out = *scratch;
  }
  return true;
}

bool ToIntegers(absl::string_view t, std::vector<int64_t>* out, bool* cut) {
  out->clear();
  *cut = false;
  Unquote(&t);
  if (t.size() < 2 || t.front() != '[' || t.back() != ']') return false;
  t = t.substr(1, t.size() - 2);
  const auto space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!t.empty()) {
    const size_t comma = std::min(t.find(','), t.size());
    absl::string_view item = t.substr(0, comma);
    t.remove_prefix(std::min(comma + 1, t.size()));
    while (!item.empty() && space(item.front())) item.remove_prefix(1);
    while (!item.empty() && space(item.back())) item.remove_suffix(1);
    if (item.empty() && out->empty() && !*cut && t.empty()) break;
    if (item == "...") {
      *cut = true;
      continue;
    }
    int64_t v;
    if (!ToInteger(item, &v)) return false;
    out->push_back(v);
  }
  return true;
}

absl::string_view WithoutLayout(absl::string_view json, std::string* scratch) {
  if (json.find('\n') == absl::string_view::npos) return json;
  scratch->clear();
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!quoted && (c == '\n' || c == '\r' || c == '\t' || c == ' ')) continue;
    scratch->push_back(c);
    if (c == '"') {
      quoted = !quoted;
    } else if (quoted && c == '\\' && i + 1 < json.size()) {
      scratch->push_back(json[++i]);
    }
  }
  return *scratch;
}

}  // namespace chakra::pytorch::kineto
