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

constexpr Signature kSignatures[] = {
    {"version https://git-lfs", "a pointer of Git LFS, not the file", "fetch the file: git lfs pull"},
    {"PK\x03\x04", "a zip archive", "unpack: unzip PATH"},
    {"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack: 7z x PATH"},
    {"\xfd"
     "7zXZ",
     "a file packed by xz", "unpack: xz -d PATH"},
    {"BZh", "a file packed by bzip2", "unpack: bzip2 -d PATH"},
    {"\x04\"M\x18", "a file packed by lz4", "unpack: lz4 -d PATH"},
    {"\x7f"
     "ELF",
     "a program", ""},
    {"\x89PNG", "a picture", ""},
    {"%PDF", "a PDF document", ""},
    {"\x93NUMPY", "an array of NumPy", ""},
};

constexpr Signature kUtf16 = {"", "text in UTF-16, as Windows writes it; expected UTF-8",
                              "convert: iconv -f UTF-16 -t UTF-8 PATH > utf8.json"};

// Whether `s` is a byte-order mark followed by ASCII characters in UTF-16.
bool LooksLikeUtf16(absl::string_view s) {
  const bool little = absl::StartsWith(s, "\xff\xfe");
  if (!little && !absl::StartsWith(s, "\xfe\xff")) return false;
  s = s.substr(2, 16);
  for (size_t i = 0; i + 1 < s.size(); i += 2) {
    const char sign = s[little ? i : i + 1], zero = s[little ? i + 1 : i];
    if (zero != 0 || !LooksLikeText({&sign, 1})) return false;
  }
  return s.size() > 1;
}

}  // namespace

const Signature* FindSignature(absl::string_view s) {
  if (LooksLikeUtf16(s)) return &kUtf16;
  for (const Signature& k : kSignatures) {
    if (absl::StartsWith(s, k.magic)) return &k;
  }
  return nullptr;
}

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
  // Big-endian magic number, and version 2: RFC 1740, appendix A.
  return absl::StartsWith(s, absl::string_view("\x00\x05\x16\x07\x00\x02\x00\x00", 8));
}

std::string LooksLike(absl::string_view s) {
  if (const Signature* known = FindSignature(s)) return absl::StrCat("; it looks like ", known->what);
  if (absl::StartsWith(s, "SQLite format 3")) return "; it looks like an SQLite database";
  if (LooksLikeText(s)) {
    return absl::StrCat("; it looks like text: \"", absl::CEscape(s.substr(0, 32)), "\"");
  }
  return "";
}

}  // namespace chakra
