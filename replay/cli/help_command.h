// What `help WORD...` prints.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"

namespace chakra::cli {

// Words: a command, a command and a group of its options, or a topic (help/topics.h); none: the list of both.
// Errors: another word, with the nearest one.
absl::StatusOr<std::string> HelpOn(CLI::App* root, const std::vector<std::string>& words);

}  // namespace chakra::cli
