// Sizes on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakra {

// "1048576", "1MiB", "1M" (binary, as nccl-tests has it), "1MB" (decimal). Errors
// name the text and say what was expected.
absl::StatusOr<uint64_t> ParseSize(absl::string_view text);

// Sizes and ranges, separated by commas: "1KiB..8GiB" multiplies by `factor` from
// the first on, as far as the second. At most 10,000 sizes, in the order given.
absl::StatusOr<std::vector<uint64_t>> ParseSizes(absl::string_view text, double factor);

}  // namespace chakra
