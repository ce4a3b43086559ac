// Which algorithm and protocol a call takes, and why.
#pragma once

#include <functional>

#include "replay/library/library.h"

namespace chakra {

struct Choice {
  Candidate candidate;
  std::string why;  // one clause, e.g. "auto: 35.9 us predicted, next tree/ll 48.4 us"
};

// The time of a candidate when its plan runs.
using PriceFunction = std::function<absl::StatusOr<Time>(const Candidate&)>;

// Follows `rule`: "auto" takes the least predicted time of the library's own
// algorithms, "cheapest" the least price of all, "ALGORITHM" and
// "ALGORITHM/PROTOCOL" that one. "auto/PROTOCOL" (or "*/PROTOCOL") and "cheapest/PROTOCOL" look at one
// protocol only. `price` is called for "cheapest" only. Errors: a rule that names nothing, with what it could
// name; one that names what this group cannot do, with the reason.
absl::StatusOr<Choice> Choose(const std::vector<Candidate>& candidates, const std::string& rule,
                              const PriceFunction& price);

}  // namespace chakra
