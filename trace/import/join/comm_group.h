// Finds the group of a call whose library has its own groups, such as the all-reduce of an inference engine.
#pragma once

#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/join/capture_rank.h"

namespace chakra::pytorch {

// For a call whose members the capture does not name. A call of a process group is taken for a call of all
// ranks: the result is true, and `members` is empty. A call of another library (CommCall::own_group) is on
// one of the rank's known groups or on all ranks. If only one of these is possible (given the size that the
// kernel shows), the result is true and `members` are its ranks; empty: all ranks. False: the group is
// unknown.
bool OwnGroup(const CaptureRank& rank, const CommCall& call, int world_size, std::vector<int>* members);

}  // namespace chakra::pytorch
