// Ranks of files that a user gives by hand.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// The rank of the file at `path` by the first of `patterns` that its path matches; -1: none matches. A
// pattern is a regular expression (RE2) that is sought anywhere in the path: with one group "(\d+)", which
// finds the rank, or followed by "=N", the rank. InvalidArgument: a pattern of neither form, or a group that
// finds no number.
absl::StatusOr<int> RankByHand(const std::vector<std::string>& patterns, absl::string_view path);

}  // namespace chakra
