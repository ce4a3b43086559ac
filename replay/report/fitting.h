// What would make a step fit that does not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/generate/sizes.h"

namespace chakra {

// One change of a step on as many devices.
struct FitChange {
  std::string options;      // "--training recompute=full"
  uint64_t peak_bytes = 0;  // the most that a rank then holds
  bool fits = false;
};

// Single changes that lower the peak and are valid: recomputation, half the micro-batch, more of zero, twice
// as many ranks of tp, pp, cp in place of dp, twice as many of ep. Those that fit come first, then those with
// the lowest peak; at most six. `limit`: bytes of a rank.
std::vector<FitChange> ChangesThatFit(const generate::StepPlan& step, uint64_t limit);

// "--training recompute=full (54.1 GiB) or --parallel zero=1 (61 GiB) would fit", or what comes nearest; "":
// nothing lowers the peak.
std::string FitAdvice(const generate::StepPlan& step, uint64_t limit);

}  // namespace chakra
