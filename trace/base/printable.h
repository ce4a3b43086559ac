// Text of users' files as it is printed. The one escaping of the program.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// `text` on one line, for a terminal: what a terminal could take for a command or a new line, what turns the
// direction of text, and bytes that are not UTF-8 become escapes: "\n", "\x1b", "\u202e". A backslash stays:
// what is printable does not change.
std::string Printable(absl::string_view text);

// The same for lines that were laid out: newlines and tabs stay. Escapes of characters beyond ASCII are those
// of JSON, so that JSON keeps its meaning.
std::string PrintableLines(absl::string_view text);

}  // namespace chakra
