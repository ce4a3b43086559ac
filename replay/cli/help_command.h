// The text that `help WORD...` prints.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"

namespace chakra::cli {

// `words` are a command, a command and a group of its options, or a topic (help/topics.h); if there are none,
// the text lists commands and topics. Errors: an unknown word, with the nearest known one.
absl::StatusOr<std::string> HelpOn(CLI::App* root, const std::vector<std::string>& words);

}  // namespace chakra::cli
