// Finds the group of each collective of a capture, and how it is known.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/import/join/capture_rank.h"
#include "trace/import/join/group_rules.h"
#include "trace/import/join/infer_groups.h"

namespace chakra::pytorch {

// A group of the job.
struct CallGroup {
  std::string name;
  std::vector<int> ranks;  // global ranks, in the order of the group
  GroupOrigin origin = GroupOrigin::kNamed;
  std::string evidence;
  uint64_t calls = 0;  // number of calls of captured ranks
};

struct CallGroups {
  std::vector<CallGroup> groups;  // in the order of their first calls, by rank
  // Row of `groups`, by captured rank and by row of Timeline::comms; kNoRow: none.
  std::vector<std::vector<uint32_t>> of;
};

// Gives a group to each collective, and to each send and receive whose group is named. Names are as the
// capture writes them. A pointer to a group is not used as a name, because it differs between ranks. If
// several groups have one name, the first rank is appended ("tp@2"). `machine`: by captured rank; ranks with
// equal numbers share a clock; -1: unknown.
CallGroups FindCallGroups(const std::vector<CaptureRank>& ranks, int world, const std::vector<int>& machine,
                          const GroupRules& asked);

}  // namespace chakra::pytorch
