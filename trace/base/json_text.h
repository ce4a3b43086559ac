// Writes JSON strings.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace chakra {

// Appends `text` in quotes; escapes quotes, backslashes and control characters. JSON must be UTF-8: convert
// text that may hold any bytes with ToUtf8() first.
void AppendJsonText(absl::string_view text, std::string* out);
std::string JsonText(absl::string_view text);

}  // namespace chakra
