// Parses sizes on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// Reads a size such as "1048576", "1MiB", "1M" (binary, as in nccl-tests) or "1MB" (decimal). Errors name the
// text and say what was expected.
absl::StatusOr<uint64_t> ParseSize(absl::string_view text);

// Parses sizes and ranges, separated by commas. A range such as "1KiB..8GiB" has the first size and its
// multiples by powers of `factor`, up to the second size. At most 10,000 sizes, in the order given.
absl::StatusOr<std::vector<uint64_t>> ParseSizes(absl::string_view text, double factor);

}  // namespace chakra
