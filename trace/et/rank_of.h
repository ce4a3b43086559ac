// Ranks of files, given by the user (--rank-of).
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// Returns the rank of the file at `path`, from the first of `patterns` that matches its path; -1 if none
// matches. A pattern is a regular expression (RE2) that may match any part of the path. It either has one
// group "(\d+)" that captures the rank, or is followed by "=N", where N is the rank. Error (InvalidArgument):
// a pattern of another form, or a captured text that is not a rank.
absl::StatusOr<int> RankByHand(const std::vector<std::string>& patterns, absl::string_view path);

}  // namespace chakra
