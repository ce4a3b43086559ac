// Finds the steps of a training run in the calls of one rank: the pattern that repeats.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/collective_logs/calls.h"

namespace chakra::collective_logs {

// Returns the first call of each step, and the number of calls; ascending. Empty: nothing repeats. A step has
// p calls, where p is the smallest number for which each of the last calls equals the call p before it
// (operation, group, bytes and peer). The last calls are at least half of all calls and at least 2 p. Linear
// in the number of calls.
std::vector<uint32_t> FindSteps(const LogCalls& calls);

}  // namespace chakra::collective_logs
