#include "trace/base/printable.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

// Decodes `s`. Precondition: `s` is one well-formed UTF-8 sequence of at least two bytes.
uint32_t CodeOf(absl::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(s[i])); };
  uint32_t code = byte(0) & (0xffu >> (s.size() + 1));
  for (size_t i = 1; i < s.size(); ++i) code = code << 6 | (byte(i) & 0x3f);
  return code;
}

// Whether `code` is a Latin-1 control character, a direction mark, a line separator or an invisible
// character.
bool IsTricky(uint32_t code) {
  return (code >= 0x80 && code <= 0x9f) || code == 0xad || code == 0x61c || code == 0x200b ||
         (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb);
}

std::string Escape(absl::string_view text, bool lines) {
  const auto plain = [lines](char c) {
    const auto u = static_cast<unsigned char>(c);
    return (u >= 0x20 && u < 0x7f) || (lines && (c == '\n' || c == '\t'));
  };
  if (std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string out;
  out.reserve(text.size() + 16);
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto u = static_cast<unsigned char>(c);
    if (plain(c)) {
      out.push_back(c);
      ++i;
    } else if (u < 0x80) {
      const size_t short_form = absl::string_view("\n\r\t").find(c);
      if (short_form != absl::string_view::npos) {
        out.push_back('\\');
        out.push_back("nrt"[short_form]);
      } else {
        absl::StrAppendFormat(&out, "\\x%02x", u);
      }
      ++i;
    } else {
      const size_t n = Utf8Length(text.substr(i));
      const absl::string_view sequence = text.substr(i, std::max<size_t>(n, 1));
      if (n == 0) {
        absl::StrAppendFormat(&out, "\\x%02x", u);
      } else if (const uint32_t code = CodeOf(sequence); IsTricky(code)) {
        absl::StrAppendFormat(&out, "\\u%04x", code);
      } else {
        out.append(sequence.data(), sequence.size());
      }
      i += sequence.size();
    }
  }
  return out;
}

}  // namespace

std::string Printable(absl::string_view text) { return Escape(text, false); }
std::string PrintableLines(absl::string_view text) { return Escape(text, true); }

}  // namespace chakra
