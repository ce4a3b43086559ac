// Groups whose calls follow one another on each rank.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/engine/lane_policy.h"
#include "replay/engine/match/match.h"
#include "trace/model/trace.h"

namespace chakra {

// By group: the first group that has the same ranks.
std::vector<uint32_t> GroupsOfSameRanks(const Matching& matching);

// By group: whether each rank's calls of all groups with the same ranks follow one another, that is, whether
// dependencies and lanes make each call begin after the end of the previous one.
std::vector<bool> SerialGroups(const TraceSet& traces, LanePolicy policy, const Matching& matching);

}  // namespace chakra
