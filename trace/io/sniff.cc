#include "trace/io/sniff.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace chakra {
namespace {

bool LooksLikeText(absl::string_view s) {
  s = s.substr(0, 64);
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) {
    return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r' || c == '\t';
  });
}

}  // namespace

bool LooksLikeJson(absl::string_view s) {
  if (absl::StartsWith(s, "\xef\xbb\xbf")) s.remove_prefix(3);
  const size_t first = s.find_first_not_of(" \t\r\n");
  if (first == s.npos || (s[first] != '{' && s[first] != '[')) return false;
  s = s.substr(0, 64);
  return std::all_of(s.begin() + static_cast<ptrdiff_t>(first), s.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\r' || c == '\n';
  });
}

bool LooksLikeAppleDouble(absl::string_view s) {
  // Big-endian magic number and version 2: RFC 1740, appendix A.
  return absl::StartsWith(s, absl::string_view("\x00\x05\x16\x07\x00\x02\x00\x00", 8));
}

std::string LooksLike(absl::string_view s) {
  static constexpr struct {
    absl::string_view magic, name;
  } kKnown[] = {{"PK\x03\x04", "a zip archive"},
                {"\x7f"
                 "ELF",
                 "an ELF file"},
                {"BZh", "bzip2"},
                {"\xfd"
                 "7zXZ",
                 "xz"},
                {"\x04\"M\x18", "lz4"},
                {"SQLite format 3", "an SQLite database"},
                {"\x89PNG", "a PNG image"}};
  for (const auto& k : kKnown) {
    if (s.substr(0, k.magic.size()) == k.magic) return absl::StrCat("; it looks like ", k.name);
  }
  if (LooksLikeText(s)) {
    return absl::StrCat("; it looks like text: \"", absl::CEscape(s.substr(0, 32)), "\"");
  }
  return "";
}

}  // namespace chakra
