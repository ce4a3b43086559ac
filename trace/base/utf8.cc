#include "trace/base/utf8.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace chakra {

// Source: the Unicode Standard, table 3-7.
size_t Utf8Length(absl::string_view s) {
  const auto at = [&](size_t i) { return i < s.size() ? static_cast<uint8_t>(s[i]) : 0; };
  const auto tail = [&](size_t i) { return (at(i) & 0xc0) == 0x80; };
  const uint8_t a = at(0);
  const uint8_t b = at(1);
  if (a < 0x80) return 1;
  if (a >= 0xc2 && a <= 0xdf) return tail(1) ? 2 : 0;
  if (a >= 0xe0 && a <= 0xef) {
    if ((a == 0xe0 && b < 0xa0) || (a == 0xed && b > 0x9f)) return 0;
    return tail(1) && tail(2) ? 3 : 0;
  }
  if (a >= 0xf0 && a <= 0xf4) {
    if ((a == 0xf0 && b < 0x90) || (a == 0xf4 && b > 0x8f)) return 0;
    return tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

size_t ValidUtf8Prefix(absl::string_view s) {
  size_t at = 0;
  while (at < s.size()) {
    const size_t n = static_cast<unsigned char>(s[at]) < 0x80 ? 1 : Utf8Length(s.substr(at));
    if (n == 0) break;
    at += n;
  }
  return at;
}

std::string ToUtf8(absl::string_view s) {
  // Most texts are ASCII.
  if (std::all_of(s.begin(), s.end(), [](char c) { return static_cast<signed char>(c) >= 0; }))
    return std::string(s);
  std::string out;
  out.reserve(s.size());
  while (!s.empty()) {
    const size_t n = Utf8Length(s);
    if (n == 0) {
      out += "\xef\xbf\xbd";
      s.remove_prefix(1);
    } else {
      out.append(s.data(), n);
      s.remove_prefix(n);
    }
  }
  return out;
}

}  // namespace chakra
