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

// Single changes that lower the peak and are valid: more of zero, recomputation, half the micro-batch, twice
// as many ranks of tp, cp, pp, or ep in place of dp, pieces back to one. Those that fit come first, and of
// each kind the one with the lowest peak; at most six. `limit`: bytes of a rank.
std::vector<FitChange> ChangesThatFit(const generate::StepPlan& step, uint64_t limit);

// "--training recompute=full (54.1 GiB) or --parallel zero=1 (61 GiB) would fit", or what comes nearest; "":
// nothing lowers the peak.
std::string FitAdvice(const generate::StepPlan& step, uint64_t limit);

}  // namespace chakra
