// Brings the clocks of captured ranks together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/import/join/capture_rank.h"

namespace chakra::pytorch {

// One collective call of a rank.
struct GroupCall {
  uint32_t comm = 0;           // row of Timeline::comms
  int64_t begin = 0, end = 0;  // ns of the rank's own clock, since the epoch
};

// The calls of a group that all its captured members show: calls[m][i] is call i of member m.
struct MatchedGroup {
  std::string name;
  std::vector<uint32_t> members;  // captured ranks, ascending
  std::vector<std::vector<GroupCall>> calls;
  bool sure = true;  // the members are known or inferred, not guessed
};

struct Clocks {
  std::vector<int64_t> offset_ns;  // by captured rank: what to add to its clock
  // By captured rank: the lowest one that shared collectives tell its clock from, or that is on its machine.
  std::vector<uint32_t> one_with;
  std::vector<Repair> notes;  // clock_aligned, clock_not_aligned, clock_left
};

// A collective ends on all members at nearly the same time: the ends of calls on sure groups tell the
// difference of two clocks, if that exceeds the spread of the ends. Ranks of one machine have one clock,
// which is moved as one. A difference that would part steps of one number, or, where steps of one number are
// together as they are, is half a step or more, is not that of clocks, and no clock is moved by that. Linear
// in calls. `machine`: as of FindMachines().
Clocks AlignClocks(const std::vector<CaptureRank>& ranks, const std::vector<int>& machine,
                   const std::vector<MatchedGroup>& groups);

}  // namespace chakra::pytorch
