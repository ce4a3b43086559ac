// Where text for people goes, and how it is laid out for that.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// Columns of a terminal that `text` takes: wide characters take two, those that join the one before them
// none. A byte that is no part of UTF-8, and a control character, take one.
size_t DisplayWidth(absl::string_view text);

// `text` on lines of at most `width` columns, broken at blanks; the first begins with `begin`, the others
// with `next`. A word that is wider than a line is left whole. Every line is ended by a newline.
std::string WrapText(absl::string_view begin, absl::string_view text, absl::string_view next, size_t width);

// A file, or a terminal of some width. Text is printed for one page; the page remembers what was shortened.
class TextPage {
 public:
  static constexpr size_t kLeast = 20;  // columns; a narrower terminal is taken for one of so many

  // A file or a pipe: nothing is shortened or broken.
  TextPage() = default;
  // A terminal of `width` columns; `utf8`: it shows UTF-8, so that an ellipsis is one character.
  TextPage(size_t width, bool utf8);

  bool limited() const { return width_ > 0; }
  // In columns; 0 where it is not limited.
  size_t width() const { return width_; }

  // `text` of at most `width` columns, at least 4, with an ellipsis in its middle where it is wider. What a
  // terminal could take for a command (control characters, bytes that are not UTF-8) becomes "?".
  std::string Fit(absl::string_view text, size_t width) const;
  // To be told by Finish(): texts of the column `name` are not whole.
  void NoteShortened(const std::string& name);

  // What goes to the terminal: `text` with lines that are too long broken at blanks, and with a last line
  // that says what was shortened, if anything was. To a file `text` as it is.
  std::string Finish(std::string text) const;

 private:
  size_t width_ = 0;
  bool utf8_ = false;
  std::set<std::string> shortened_;  // names of columns
};

}  // namespace chakra
