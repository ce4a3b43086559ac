// The group of a call whose library has groups of its own, such as an inference engine's all-reduce.
#pragma once

#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/join/capture_rank.h"

namespace chakra::pytorch {

// For a call whose members the capture does not name. A call of a process group is then taken for a call of
// all ranks: true, and `members` stays empty. A call of another library (CommCall::own_group) is of a known
// group of the rank, or of all ranks, where that is the only one (of the size that the kernel tells): true,
// and `members` are that group's. False: nothing tells the group.
bool OwnGroup(const CaptureRank& rank, const CommCall& call, int world_size, std::vector<int>* members);

}  // namespace chakra::pytorch
