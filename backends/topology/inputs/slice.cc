#include "backends/topology/inputs/slice.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace chakra {
namespace {

constexpr uint64_t kMostCount = uint64_t{1} << 40;

absl::Status BadSlice(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\": ", what));
}

bool ParseIndex(absl::string_view text, uint64_t* out) {
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  }
  return absl::SimpleAtoi(text, out) && *out <= kMostCount;
}

}  // namespace

uint64_t Slice::size(uint64_t count) const {
  const uint64_t last = all || to_end ? count : end;
  return last <= begin ? 0 : (last - begin + step - 1) / step;
}

absl::StatusOr<Slice> ParseSlice(absl::string_view text) {
  Slice s;
  const size_t open = text.find('[');
  s.name = std::string(absl::StripAsciiWhitespace(text.substr(0, open)));
  if (s.name.empty()) return BadSlice(text, "no name; expected NAME, NAME[2] or NAME[0:4]");
  if (s.name.find(']') != std::string::npos) return BadSlice(text, "a \"]\" without its \"[\"");
  if (open == absl::string_view::npos) return s;
  absl::string_view inner = absl::StripTrailingAsciiWhitespace(text.substr(open + 1));
  if (inner.empty() || inner.back() != ']') return BadSlice(text, "expected \"]\" at the end");
  inner.remove_suffix(1);
  const std::vector<absl::string_view> parts = absl::StrSplit(inner, ':');
  const auto bad = [&] {
    return BadSlice(text, "expected [2], [0:4] or [0:8:2], numbers from 0 that do not count from the end");
  };
  if (parts.size() > 3) return bad();
  uint64_t numbers[3] = {0, 0, 1};
  for (size_t i = 0; i < parts.size(); ++i) {
    const absl::string_view part = absl::StripAsciiWhitespace(parts[i]);
    if (part.empty() && parts.size() > 1) continue;
    if (!ParseIndex(part, &numbers[i])) return bad();
  }
  s.all = false;
  s.begin = numbers[0];
  s.end = parts.size() == 1 ? numbers[0] + 1 : numbers[1];
  s.to_end = parts.size() > 1 && absl::StripAsciiWhitespace(parts[1]).empty();
  s.step = numbers[2];
  if (s.step == 0) return BadSlice(text, "a step of 0; expected >= 1");
  return s;
}

absl::StatusOr<std::vector<Slice>> ParseSlices(absl::string_view text) {
  std::vector<Slice> slices;
  size_t begin = 0;
  bool inside = false;
  for (size_t i = 0; i <= text.size(); ++i) {
    const bool end = i == text.size();
    if (!end && text[i] == '[') inside = true;
    const bool closes = !end && text[i] == ']';
    if (closes) inside = false;
    if (!end && !closes && (inside || text[i] != '.')) continue;
    const absl::string_view part = text.substr(begin, i - begin + (closes ? 1 : 0));
    begin = i + 1;
    // A dot right after "]", or the end of the text, does not begin a slice.
    if (part.empty() && !slices.empty() && !closes) continue;
    auto slice = ParseSlice(part);
    if (!slice.ok()) return BadSlice(text, slice.status().message());
    slices.push_back(*std::move(slice));
  }
  return slices;
}

absl::StatusOr<Slice> Within(const Slice& slice, uint64_t count) {
  Slice s = slice;
  if (s.all || s.to_end) s.end = count;
  s.all = s.to_end = false;
  if (s.end > count || s.begin >= count) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", slice.name, "[", s.begin, s.end == s.begin + 1 ? "" : absl::StrCat(":", s.end),
                     "]\": there are ", count, "; expected at most \"", slice.name,
                     count == 1 ? "[0]" : absl::StrCat("[0:", count, "]"), "\""));
  }
  if (s.begin >= s.end) {
    return absl::InvalidArgumentError(absl::StrCat("\"", slice.name, "[", s.begin, ":", s.end,
                                                   "]\" selects nothing; expected \"", slice.name, "[",
                                                   s.begin, ":", s.begin + 1, "]\" or more"));
  }
  return s;
}

}  // namespace chakra
