#include "trace/base/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "trace/base/ascii.h"

namespace chakra {
namespace {

bool IsMangled(absl::string_view name) {
  constexpr size_t kMost = 1 << 16;  // longer names take too long
  return absl::StartsWith(name, "_Z") && name.size() <= kMost;
}

std::string ByTheRules(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && plain != nullptr ? std::string(plain.get()) : "";
}

size_t DigitsAt(absl::string_view text, size_t at) {
  size_t n = 0;
  while (at + n < text.size() && IsDigit(text[at + n])) ++n;
  return n;
}

// Returns the identifier at `at`, which has its length before it ("3bf16"), and sets `end` to its end.
// Returns "" if there is none.
absl::string_view IdentifierAt(absl::string_view text, size_t at, size_t* end) {
  const size_t digits = DigitsAt(text, at);
  size_t length = 0;
  if (digits == 0 || digits > 5 || !absl::SimpleAtoi(text.substr(at, digits), &length)) return "";
  if (length == 0 || at + digits + length > text.size()) return "";
  *end = at + digits + length;
  return text.substr(at + digits, length);
}

// Returns the length of a small floating type ("DF16_", "DF16b") at `at`, or 0 if there is none.
size_t SmallFloatAt(absl::string_view text, size_t at) {
  const absl::string_view rest = text.substr(at);
  if (!absl::StartsWith(rest, "DF")) return 0;
  const size_t last = 2 + DigitsAt(text, at + 2);
  return last > 2 && last < rest.size() && absl::StrContains("_bx", rest[last]) ? last + 1 : 0;
}

// Whether the digits at `at` belong to a literal ("Li8E"), an array or a back reference, and are not the
// length of an identifier.
bool IsNumber(absl::string_view name, size_t at) {
  const char before = name[at - 1];
  const bool literal =
      at >= 2 && name[at - 2] == 'L' && absl::ascii_islower(static_cast<unsigned char>(before));
  return literal || absl::StrContains("nAST_", before);
}

// Returns `name` with each small floating type replaced by "f" (float).
std::string WithKnownTypes(absl::string_view name) {
  std::string out;
  bool named = true;  // whether an identifier, or the beginning of the name, comes before `at`
  for (size_t at = 0, end = 0; at < name.size(); at = end) {
    if (const size_t type = SmallFloatAt(name, at); type > 0) {
      out += 'f';
      end = at + type;
      named = false;
      continue;
    }
    end = at + std::max<size_t>(1, DigitsAt(name, at));
    const bool number = !IsDigit(name[at]) || (!named && IsNumber(name, at));
    named = !number && !IdentifierAt(name, at, &end).empty();
    out.append(name.data() + at, end - at);
  }
  return out;
}

// Returns "a::f" for "_ZN1a1fI...": joins the identifiers at the beginning of the name.
std::string PathOf(absl::string_view name) {
  size_t at = 2;
  if (at < name.size() && name[at] == 'N') ++at;
  while (at < name.size() && absl::StrContains("rVK", name[at])) ++at;
  std::string path;
  for (size_t end = 0;; at = end) {
    const absl::string_view part = IdentifierAt(name, at, &end);
    if (part.empty()) return path;
    if (!path.empty()) path += "::";
    path.append(part.data(), part.size());
  }
}

}  // namespace

std::string Demangle(absl::string_view name) { return IsMangled(name) ? ByTheRules(std::string(name)) : ""; }

std::string DemangleRoughly(absl::string_view name) {
  if (!IsMangled(name)) return "";
  std::string plain = ByTheRules(std::string(name));
  if (plain.empty()) plain = ByTheRules(WithKnownTypes(name));
  return plain.empty() ? PathOf(name) : plain;
}

}  // namespace chakra
