// Text as JSON has it.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// Adds `text` in quotes, with escapes for quotes, backslashes and control characters. JSON must be UTF-8:
// what may be any bytes goes through ToUtf8() first.
void AppendJsonText(absl::string_view text, std::string* out);
std::string JsonText(absl::string_view text);

}  // namespace chakra
