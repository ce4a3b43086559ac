// Lists of ranks as text: "0-7,9,16-30:2" is 0 to 7, 9, and every second rank from 16 to 30.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace chakra {

// Keeps the order of `ranks`. Ranks that descend or have unequal steps are listed one by one.
std::string FormatRanks(absl::Span<const int> ranks);

// Parses `text` and appends the ranks to `out`. Errors (InvalidArgument) begin with the wrong part of `text`:
// wrong syntax, a rank that is not below `ranks`, more than `ranks` entries, or a range whose end is before
// its beginning.
absl::Status ParseRanks(absl::string_view text, int ranks, std::vector<int>* out);

}  // namespace chakra
