#include "trace/import/collective_logs/line_template.h"

#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "trace/base/ascii.h"

namespace chakra::collective_logs {
namespace {

constexpr std::ptrdiff_t kMostDigits = 18;

static_assert(std::endian::native == std::endian::little, "the first of eight digits is the lowest byte");

uint64_t WordAt(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// Returns how many of the eight bytes are digits, before the first byte that is not one.
int DigitsOf(uint64_t word) {
  const uint64_t low = word ^ 0x3030303030303030;
  // Sets the highest bit of each byte above 9. Carries may change later bytes, which are not used.
  const uint64_t none = ((low + 0x7676767676767676) | low) & 0x8080808080808080;
  return none == 0 ? 8 : std::countr_zero(none) / 8;
}

// Returns the number in the first `digits` bytes, 1 to 8: pairs of digits become numbers, then pairs of
// these.
uint64_t NumberOf(uint64_t word, int digits) {
  constexpr uint64_t kEveryFourth = 0x000000ff000000ff;
  uint64_t v = (word ^ 0x3030303030303030) << (64 - 8 * digits);
  v = v * 10 + (v >> 8);
  return ((v & kEveryFourth) * (100 + (uint64_t{1000000} << 32)) +
          (v >> 16 & kEveryFourth) * (1 + (uint64_t{10000} << 32))) >>
         32;
}

// Skips an integer of 0 to 10^18 - 1, and returns its end; null: there is none.
const char* SkipInteger(const char* p, const char* end, int64_t* out) {
  constexpr uint64_t kPowers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  const char* first = p;
  uint64_t v = 0;
  int digits = 8;
  while (digits == 8 && end - p >= 8 && p - first <= kMostDigits) {
    const uint64_t word = WordAt(p);
    digits = DigitsOf(word);
    if (digits > 0) v = v * kPowers[digits] + NumberOf(word, digits);
    p += digits;
  }
  while (digits == 8 && p < end && IsDigit(*p) && p - first <= kMostDigits)
    v = v * 10 + static_cast<uint64_t>(*p++ - '0');
  if (p == first || p - first > kMostDigits || (p - first > 1 && *first == '0')) return nullptr;
  *out = static_cast<int64_t>(v);
  return p;
}

// Skips all digits, and returns their end.
const char* SkipDigits(const char* p, const char* end) {
  while (end - p >= 8) {
    const int digits = DigitsOf(WordAt(p));
    p += digits;
    if (digits < 8) return p;
  }
  while (p < end && IsDigit(*p)) ++p;
  return p;
}

// Skips a JSON number, and returns its end; null: there is none.
const char* SkipNumber(const char* p, const char* end) {
  const auto digits = [&] {
    const char* first = p;
    p = SkipDigits(p, end);
    return p > first;
  };
  if (p < end && *p == '-') ++p;
  const char* whole = p;
  if (!digits() || (p - whole > 1 && *whole == '0')) return nullptr;
  if (p < end && *p == '.') {
    ++p;
    if (!digits()) return nullptr;
  }
  if (p < end && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p < end && (*p == '+' || *p == '-')) ++p;
    if (!digits()) return nullptr;
  }
  return p;
}

// Faster than memcmp() for few bytes.
bool EqualText(const char* a, const char* b, size_t size) {
  if (size < 8) {
    for (size_t i = 0; i < size; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }
  uint64_t differ = WordAt(a + size - 8) ^ WordAt(b + size - 8);
  for (size_t i = 0; i + 8 < size; i += 8) differ |= WordAt(a + i) ^ WordAt(b + i);
  return differ == 0;
}

// Skips a text whose first quote is at `at`, and returns its end.
size_t SkipText(absl::string_view line, size_t at) {
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] == '\\') ++at;
  }
  return at + 1;
}

// Calls number(path, begin, end) for each number of a valid object.
template <typename Fn>
void ForEachNumber(absl::string_view line, const Fn& number) {
  std::string path;
  struct Open {
    size_t path;  // length of the path before the object or list
    bool list;
  };
  std::vector<Open> open;
  bool key = false;  // whether a text is the key of a member
  for (size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (c == '{' || c == '[') {
      open.push_back({path.size(), c == '['});
      path += c == '[' ? "[]" : path.empty() ? "" : ".";
      key = c == '{';
    } else if ((c == '}' || c == ']') && !open.empty()) {
      path.resize(open.back().path);
      open.pop_back();
    } else if (c == ',' && !open.empty() && !open.back().list) {
      path.resize(open.back().path);
      if (!path.empty()) path += '.';
      key = true;
    } else if (c == '"') {
      const size_t end = SkipText(line, at);
      if (key && end <= line.size()) path.append(line.data() + at + 1, end - at - 2);
      key = false;
      at = end;
      continue;
    } else if (c == '-' || IsDigit(c)) {
      const char* begin = line.data() + at;
      const char* end = SkipNumber(begin, line.data() + line.size());
      if (end == nullptr) return;
      number(path, at, static_cast<size_t>(end - line.data()));
      at += static_cast<size_t>(end - begin);
      continue;
    }
    ++at;
  }
}

}  // namespace

std::optional<LineTemplate> LineTemplate::Of(absl::string_view line,
                                             const std::function<int(absl::string_view path)>& role_of) {
  LineTemplate out;
  bool good = line.size() < (1 << 20);
  size_t done = 0;
  ForEachNumber(line, [&](absl::string_view path, size_t begin, size_t end) {
    const int role = role_of(path);
    int64_t value = 0;
    if (role == kFixed) return;
    out.pieces_.push_back(
        {static_cast<uint32_t>(out.bytes_.size()), static_cast<uint32_t>(begin - done), role == kIgnored});
    out.bytes_.append(line.data() + done, begin - done);
    done = end;
    if (role == kIgnored) return;
    good = good && SkipInteger(line.data() + begin, line.data() + end, &value) == line.data() + end;
    out.roles_.push_back(role);
  });
  if (!good) return std::nullopt;
  out.tail_ = static_cast<uint32_t>(out.bytes_.size());
  out.bytes_.append(line.data() + done, line.size() - done);
  return out;
}

bool LineTemplate::Fits(absl::string_view text, int64_t* values, size_t* length) const {
  const char* p = text.data();
  const char* end = p + text.size();
  for (const Piece& piece : pieces_) {
    if (static_cast<size_t>(end - p) < piece.size || !EqualText(p, bytes_.data() + piece.begin, piece.size))
      return false;
    p += piece.size;
    p = piece.ignored ? SkipNumber(p, end) : SkipInteger(p, end, values++);
    if (p == nullptr) return false;
  }
  const size_t tail = bytes_.size() - tail_;
  if (static_cast<size_t>(end - p) < tail || !EqualText(p, bytes_.data() + tail_, tail)) return false;
  p += tail;
  *length = static_cast<size_t>(p - text.data());
  return p == end || *p == '\n';
}

}  // namespace chakra::collective_logs
