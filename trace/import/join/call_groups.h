// The group of each collective of a capture, and how it is known.
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
  std::vector<int> ranks;  // global; in the order of the group
  GroupOrigin origin = GroupOrigin::kNamed;
  std::string evidence;
  uint64_t calls = 0;  // of captured ranks
};

struct CallGroups {
  std::vector<CallGroup> groups;          // in the order of their first calls, by rank
  std::vector<std::vector<uint32_t>> of;  // by captured rank, then by row of Timeline::comms; kNoRow: none
};

// Gives a group to each collective and to each named send and receive. Names are as the capture writes them;
// a pointer to a group, which differs between ranks, names none. Where several groups have one name, the
// first rank is added ("tp@2"). `machine`: by captured rank, equal numbers share a clock; -1: not known.
CallGroups FindCallGroups(const std::vector<CaptureRank>& ranks, int world, const std::vector<int>& machine,
                          const GroupRules& asked);

}  // namespace chakra::pytorch
