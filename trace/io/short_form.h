// Parses and prints "NAME:key=value,key=value", the short form of a setting or of a network.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

struct ShortForm {
  std::string name;
  std::vector<std::pair<std::string, std::string>> set;  // keys and values, as given
};

// Returns an error if `text` is NAME,key=value..., with a comma in place of the colon: "WHAT follows a colon;
// expected NAME:key=value...".
absl::Status CheckColon(absl::string_view text, absl::string_view what);

// Parses a short form. Commas and "=" inside parentheses belong to the value. Errors: no name, those of
// CheckColon(), an item that is not KEY=VALUE, a repeated key, unbalanced parentheses.
absl::StatusOr<ShortForm> ParseShortForm(absl::string_view text);
std::string PrintShortForm(const ShortForm& form);

// Returns `value` without the parentheses around it, if there are any.
absl::string_view WithoutParentheses(absl::string_view value);

}  // namespace chakra
