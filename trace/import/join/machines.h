// Finds which ranks of a capture ran on the same machine, and so with the same clock.
#pragma once

#include <vector>

#include "trace/import/join/capture_rank.h"

namespace chakra::pytorch {

// By captured rank, the number of its machine; -1: unknown. Two ranks are on the same machine if
// - their device traces say so (DeviceTrace::machine), or
// - their Kineto files have names that PyTorch gives, HOST_PID.TIME.pt.trace.json, with the same host (and
//   the pid of the events), or
// - their host traces have the same begin of the steady clock (up to the writer's rounding), and their pids
//   differ, but by no more than the pids of one launch.
std::vector<int> FindMachines(const std::vector<CaptureRank>& ranks);

}  // namespace chakra::pytorch
