// Which ranks of a capture ran on one machine, and so by one clock.
#pragma once

#include <vector>

#include "trace/import/join/capture_rank.h"

namespace chakra::pytorch {

// By captured rank, the number of its machine; -1: nothing tells. Two ranks are of one machine if
// - their device traces say so (DeviceTrace::machine), or
// - their Kineto files have the names that PyTorch gives, HOST_PID.TIME.pt.trace.json, with one host (the pid
// is
//   that of the events), or
// - their host traces say the same begin of the steady clock (within what the writer rounds), and their
// processes
//   differ, by no more than one launch makes.
std::vector<int> FindMachines(const std::vector<CaptureRank>& ranks);

}  // namespace chakra::pytorch
