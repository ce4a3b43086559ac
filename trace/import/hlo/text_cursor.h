// A place in HLO text, and the tokens from there on.
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
  // What is left of the line, shortened, for messages.
  std::string Rest() const;

  // Skips blanks and comments; line ends too.
  void Skip();
  // The same, but not over the end of a line.
  void SkipInLine();
  void SkipLine();
  bool Consume(absl::string_view token);  // after Skip()
  // The same, where nothing follows it on its line.
  bool ConsumeLine(absl::string_view token);
  // "%name" or "name"; "": there is none.
  absl::string_view Name();
  // What is between the bracket here and the one that closes it; quotes are one token. False: nothing closes
  // it.
  bool Bracketed(absl::string_view* inside);
  // "bf16[8,128]{1,0:T(8,128)}" or a tuple. False: it is no shape.
  bool ReadShape(Shape* out) { return ReadShapeAt(0, out); }
  // "key=value" pairs, each after a comma; lines may end between them. False: a value that does not end.
  bool ReadAttributes(std::vector<std::pair<absl::string_view, absl::string_view>>* out);

 private:
  bool ReadShapeAt(int depth, Shape* out);
  bool SkipQuoted();
  bool SkipValue();

  absl::string_view text_;
  size_t at_ = 0;
  mutable size_t counted_to_ = 0;  // at_ only grows
  mutable int64_t counted_ = 0;    // line ends up to there
};

// Parts of a list at its own commas: "{0,1},{2}" has two.
std::vector<absl::string_view> SplitList(absl::string_view text);
// A quoted text without its quotes and escapes; any other text as it is.
std::string Unquoted(absl::string_view text);
// Numbers of "{0,1}", "0,1" or "[0,1]". False: something else.
bool ParseNumbers(absl::string_view text, std::vector<int64_t>* out);

}  // namespace chakra::hlo
