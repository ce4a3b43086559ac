// "NAME:key=value,key=value": the short form of a setting or of a network.
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

// Commas and "=" inside of parentheses belong to a value. Errors: no name, an item that is no KEY=VALUE, a
// key twice, parentheses that do not match.
absl::StatusOr<ShortForm> ParseShortForm(absl::string_view text);
std::string PrintShortForm(const ShortForm& form);

// A value without the parentheses around it, where it has them.
absl::string_view WithoutParentheses(absl::string_view value);

}  // namespace chakra
