// Makes text from users' files safe to print. All parts of the program use these functions for this.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// Makes `text` safe for one line of a terminal. Escapes ("\n", "\x1b", "\u202e") replace newlines, control
// characters, characters that change the direction of text, and bytes that are not UTF-8. A backslash stays
// as it is, so printable text does not change.
std::string Printable(absl::string_view text);

// Like Printable(), for text that has lines already: newlines and tabs stay. The escapes of valid characters
// beyond ASCII are also valid in JSON, so JSON text keeps its meaning.
std::string PrintableLines(absl::string_view text);

}  // namespace chakra
