// The page, a file or a terminal, on which text for people is printed, and the layout of text on it.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// The number of terminal columns of `text`. A wide character has two columns, a combining character none; a
// control character, or a byte that is not UTF-8, has one.
size_t DisplayWidth(absl::string_view text);

// Breaks `text` at blanks into lines of at most `width` columns. The first line begins with `begin`, the
// others with `next`. A word wider than a line stays whole. Every line ends with a newline.
std::string WrapText(absl::string_view begin, absl::string_view text, absl::string_view next, size_t width);

// A file, or a terminal of a certain width. One TextPage serves one output; it remembers which texts were
// shortened.
class TextPage {
 public:
  static constexpr size_t kLeast = 20;  // minimum of columns; a narrower terminal is treated as this wide

  // A file or a pipe: nothing is shortened or broken.
  TextPage() = default;
  // A terminal of `width` columns. `utf8`: it shows UTF-8, so the ellipsis is a single character.
  TextPage(size_t width, bool utf8);

  bool limited() const { return width_ > 0; }
  // In columns; 0: not limited.
  size_t width() const { return width_; }

  // Shortens `text` to `width` columns (at least 4) with an ellipsis in its middle, if it is wider. Control
  // characters and bytes that are not UTF-8, which a terminal could interpret as commands, become "?".
  std::string Fit(absl::string_view text, size_t width) const;
  // Records that texts of the column `name` were shortened; Finish() lists these columns.
  void NoteShortened(const std::string& name);

  // Returns the text to print. For a terminal: long lines are broken at blanks, and a last line names the
  // columns that were shortened, if any. For a file: PrintableLines(text).
  std::string Finish(std::string text) const;

 private:
  size_t width_ = 0;
  bool utf8_ = false;
  std::set<std::string> shortened_;  // names of columns
};

}  // namespace chakra
