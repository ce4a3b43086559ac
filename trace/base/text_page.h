// The page that text for people is printed on, a file or a terminal, and how text is laid out to fit it.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// The number of terminal columns that `text` takes. A wide character takes two, a combining character none; a
// control character, and a byte that is not part of UTF-8, takes one.
size_t DisplayWidth(absl::string_view text);

// `text` on lines of at most `width` columns, broken at blanks; the first line begins with `begin`, the
// others with `next`. A word wider than a line stays whole. Every line ends with a newline.
std::string WrapText(absl::string_view begin, absl::string_view text, absl::string_view next, size_t width);

// A file, or a terminal of some width. Text is printed for one page; the page remembers what was shortened.
class TextPage {
 public:
  static constexpr size_t kLeast = 20;  // columns; a narrower terminal is treated as this wide

  // A file or a pipe: nothing is shortened or broken.
  TextPage() = default;
  // A terminal of `width` columns; `utf8`: the terminal shows UTF-8, so an ellipsis is one character.
  TextPage(size_t width, bool utf8);

  bool limited() const { return width_ > 0; }
  // In columns; 0: not limited.
  size_t width() const { return width_; }

  // `text` of at most `width` columns, at least 4, with an ellipsis in its middle if `text` is wider. Control
  // characters and bytes that are not UTF-8, which a terminal could take for a command, become "?".
  std::string Fit(absl::string_view text, size_t width) const;
  // Notes that texts of the column `name` were shortened; Finish() says so.
  void NoteShortened(const std::string& name);

  // The text to print. For a terminal: `text` with long lines broken at blanks, and a last line that names
  // what was shortened, if anything was. For a file: `text` as PrintableLines() has it.
  std::string Finish(std::string text) const;

 private:
  size_t width_ = 0;
  bool utf8_ = false;
  std::set<std::string> shortened_;  // names of columns
};

}  // namespace chakra
