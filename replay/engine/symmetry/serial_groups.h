// Groups whose calls follow one another on each rank.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/engine/lane_policy.h"
#include "replay/engine/match/match.h"
#include "trace/model/trace.h"

namespace chakra {

// By group: the first group of the same ranks.
std::vector<uint32_t> GroupsOfSameRanks(const Matching& matching);

// By group: whether each rank's calls of groups of the same ranks follow one another: each begins after the
// end of the one before, because dependencies and lanes have it so.
std::vector<bool> SerialGroups(const TraceSet& traces, LanePolicy policy, const Matching& matching);

}  // namespace chakra
