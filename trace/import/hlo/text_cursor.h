// A position in HLO text, and the tokens from there on.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/import/hlo/module.h"

namespace chakra::hlo {

class TextCursor {
 public:
  explicit TextCursor(absl::string_view text) : text_(text) {}

  bool done() const { return at_ >= text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }
  size_t at() const { return at_; }
  int64_t line() const;  // from 1
  // The remaining text of the line, shortened, for messages.
  std::string Rest() const;

  // Skips blanks, comments and line ends.
  void Skip();
  // Skips blanks and comments, but no line end.
  void SkipInLine();
  void SkipLine();
  bool Consume(absl::string_view token);  // calls Skip() first
  // As Consume(), but only if nothing follows the token on its line.
  bool ConsumeLine(absl::string_view token);
  // Reads "%name" or "name"; "": there is none.
  absl::string_view Name();
  // Reads the text between the bracket here and the bracket that closes it; a quoted text is one token.
  // Returns false if the bracket is not closed.
  bool Bracketed(absl::string_view* inside);
  // Reads "bf16[8,128]{1,0:T(8,128)}" or a tuple. Returns false if there is no shape.
  bool ReadShape(Shape* out) { return ReadShapeAt(0, out); }
  // Reads "key=value" pairs, each after a comma; lines may end between pairs. Returns false if a value does
  // not end.
  bool ReadAttributes(std::vector<std::pair<absl::string_view, absl::string_view>>* out);

 private:
  bool ReadShapeAt(int depth, Shape* out);
  bool SkipQuoted();
  bool SkipValue();

  absl::string_view text_;
  size_t at_ = 0;
  mutable size_t counted_to_ = 0;  // counted_ is valid up to here; at_ only grows
  mutable int64_t counted_ = 0;    // number of line ends up to counted_to_
};

// Splits a list at its own commas, not at those of inner lists: "{0,1},{2}" has two parts.
std::vector<absl::string_view> SplitList(absl::string_view text);
// A quoted text without its quotes and escapes; any other text as it is.
std::string Unquoted(absl::string_view text);
// Reads the numbers of "{0,1}", "0,1" or "[0,1]". Returns false for other texts.
bool ParseNumbers(absl::string_view text, std::vector<int64_t>* out);

}  // namespace chakra::hlo
