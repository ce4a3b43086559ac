// Lists of ranks as text: "0-7,9,16-30:2" is 0 to 7, 9, and each second from 16 to 30.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace chakra {

// The order is kept; what descends, or has no equal steps, is listed one by one.
std::string FormatRanks(absl::Span<const int> ranks);

// Appends to `out`. Errors (InvalidArgument), which begin with the part that is wrong: no list of this form,
// a rank of `ranks` or more, more than `ranks` entries, a range that ends before it begins.
absl::Status ParseRanks(absl::string_view text, int ranks, std::vector<int>* out);

}  // namespace chakra
