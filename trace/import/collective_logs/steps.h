// Finds the steps of a training run in the calls of one rank: the pattern that repeats.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/collective_logs/calls.h"

namespace chakra::collective_logs {

// The first call of each step, and one past the last call; ascending; empty: nothing repeats. The period is
// the least number of calls p such that the last calls, at least half of all and 2 p, each equal the call p
// before (operation, communicator, bytes and peer). Linear in the number of calls.
std::vector<uint32_t> FindSteps(const LogCalls& calls);

}  // namespace chakra::collective_logs
