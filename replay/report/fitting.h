// Changes that would make a step fit into memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/generate/sizes.h"

namespace chakra {

// One change of a step on the same number of devices.
struct FitChange {
  std::string options;      // "--training recompute=full"
  uint64_t peak_bytes = 0;  // the maximum over ranks, after the change
  bool fits = false;
};

// Single changes that lower the peak and are valid: recomputation, half the micro-batch, a higher zero, twice
// the tp, pp or cp in place of dp, twice the ep. For recommendation models: placing and storing the tables
// differently. Changes that fit come first, then those with the lowest peak; at most six. `limit`: bytes of a
// rank.
std::vector<FitChange> ChangesThatFit(const generate::StepPlan& step, uint64_t limit);

// "--training recompute=full (54.1 GiB) or --parallel zero=1 (61 GiB) would fit", or the changes that come
// nearest; "": no change lowers the peak.
std::string FitAdvice(const generate::StepPlan& step, uint64_t limit);

}  // namespace chakra
