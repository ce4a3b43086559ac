#include "trace/base/text_page.h"

#include <algorithm>
#include <clocale>
#include <cstdint>
#include <cwchar>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trace/base/printable.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

// While an object of this class lives, wcwidth() handles Unicode, whatever the locale of the process.
class UnicodeLocale {
 public:
  UnicodeLocale() : before_(uselocale(locale())) {}
  ~UnicodeLocale() { uselocale(before_); }
  UnicodeLocale(const UnicodeLocale&) = delete;
  UnicodeLocale& operator=(const UnicodeLocale&) = delete;

  // The number of columns of `c`; -1 if `c` cannot be shown.
  static int Width(wchar_t c) {
    if (c < 0x20) return -1;
    return locale() == nullptr && c >= 0xa0 ? 1 : wcwidth(c);
  }

 private:
  // Null if the system has no C.UTF-8; uselocale(null) changes nothing.
  static locale_t locale() {
    static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return unicode;
  }
  locale_t before_;
};

// The code point of `s`, one well-formed UTF-8 sequence.
wchar_t CodePoint(absl::string_view s) {
  const auto first = static_cast<uint8_t>(s[0]);
  if (s.size() == 1) return first;
  uint32_t code = first & (0xffu >> (s.size() + 1));
  for (size_t i = 1; i < s.size(); ++i) code = code << 6 | (static_cast<uint8_t>(s[i]) & 0x3f);
  return static_cast<wchar_t>(code);
}

struct Glyph {
  absl::string_view bytes;
  size_t width;
};

// Splits `text` into characters; characters that cannot be shown become "?".
std::vector<Glyph> Glyphs(absl::string_view text) {
  const UnicodeLocale unicode;
  std::vector<Glyph> glyphs;
  while (!text.empty()) {
    const size_t n = Utf8Length(text);
    const int width = n == 0 ? -1 : UnicodeLocale::Width(CodePoint(text.substr(0, n)));
    if (width < 0) {
      glyphs.push_back({"?", 1});
    } else {
      glyphs.push_back({text.substr(0, n), static_cast<size_t>(width)});
    }
    text.remove_prefix(std::max<size_t>(n, 1));
  }
  return glyphs;
}

size_t Sum(const std::vector<Glyph>& glyphs) {
  size_t sum = 0;
  for (const Glyph& g : glyphs) sum += g.width;
  return sum;
}

bool IsPlain(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

// Returns the beginning of a continuation line. If a gap of blanks follows the first word of `line`, the
// continuation is aligned with the text after the gap; otherwise it is indented by two more columns. The
// continuation of a comment is a comment too.
std::string Hanging(absl::string_view line, size_t width) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const size_t word_end = line.find("  ", indent);
  size_t column = indent + 2;
  if (word_end != line.npos && line.substr(indent, word_end - indent).find(' ') == line.npos) {
    const size_t value = line.find_first_not_of(' ', word_end);
    if (value != line.npos && value <= width / 3) column = value;
  }
  std::string out(std::min(column, width / 3), ' ');
  if (!line.empty() && line[0] == '#') out[0] = '#';
  return out;
}

std::string WrapLine(absl::string_view line, size_t width) {
  const std::string next = Hanging(line, width);
  const size_t keep = std::min(line.find_first_not_of(" #"), line.size());  // keeps the indentation
  return WrapText(line.substr(0, keep), line.substr(keep), next, width);
}

}  // namespace

size_t DisplayWidth(absl::string_view text) { return IsPlain(text) ? text.size() : Sum(Glyphs(text)); }

std::string WrapText(absl::string_view begin, absl::string_view text, absl::string_view next, size_t width) {
  std::string out, line(begin);
  size_t taken = DisplayWidth(line);
  bool empty = true;
  while (!text.empty()) {
    // Keep the blanks between words, except at a line break.
    const size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    const size_t end = std::min(text.find(' ', blanks), text.size());
    const absl::string_view word = text.substr(blanks, end - blanks);
    const size_t room = DisplayWidth(word) + (empty ? 0 : blanks);
    if (!empty && taken + room > width) {
      absl::StrAppend(&out, line, "\n");
      line = std::string(next);
      taken = DisplayWidth(line);
      empty = true;
    }
    if (!word.empty()) {
      if (!empty) line.append(blanks, ' ');
      absl::StrAppend(&line, word);
      taken += DisplayWidth(word) + (empty ? 0 : blanks);
      empty = false;
    }
    text.remove_prefix(end);
  }
  return absl::StrCat(out, line, "\n");
}

TextPage::TextPage(size_t width, bool utf8) : width_(std::max(width, kLeast)), utf8_(utf8) {}

std::string TextPage::Fit(absl::string_view text, size_t width) const {
  const std::vector<Glyph> glyphs = Glyphs(text);
  std::string out;
  if (Sum(glyphs) <= width) {
    for (const Glyph& g : glyphs) absl::StrAppend(&out, g.bytes);
    return out;
  }
  const std::string ellipsis = utf8_ ? "\xe2\x80\xa6" : "...";
  const size_t room = width - (utf8_ ? 1 : 3);
  size_t head = 0, taken = 0;
  while (taken + glyphs[head].width <= room / 2) taken += glyphs[head++].width;
  size_t tail = glyphs.size();
  for (size_t left = room - taken; tail > head && glyphs[tail - 1].width <= left; --tail)
    left -= glyphs[tail - 1].width;
  while (tail < glyphs.size() && glyphs[tail].width == 0)
    ++tail;  // drop the combining characters of a character that was cut
  for (size_t i = 0; i < head; ++i) absl::StrAppend(&out, glyphs[i].bytes);
  out += ellipsis;
  for (size_t i = tail; i < glyphs.size(); ++i) absl::StrAppend(&out, glyphs[i].bytes);
  return out;
}

void TextPage::NoteShortened(const std::string& name) { shortened_.insert(name); }

std::string TextPage::Finish(std::string text) const {
  text = PrintableLines(text);
  if (!limited()) return text;
  std::string out;
  absl::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const absl::string_view line = rest.substr(0, end);
    if (DisplayWidth(line) <= width_) {
      absl::StrAppend(&out, line, end < rest.size() ? "\n" : "");
    } else {
      out += WrapLine(line, width_);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (shortened_.empty()) return out;
  const std::string note = absl::StrCat(
      "Shortened to fit ", width_, " columns: ", absl::StrJoin(shortened_, ", "), " (whole with \"|cat\")");
  return absl::StrCat(out, "\n", WrapText("", note, "  ", width_));
}

}  // namespace chakra
