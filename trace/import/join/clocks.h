// Aligns the clocks of captured ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/import/join/capture_rank.h"

namespace chakra::pytorch {

// One collective call of a rank.
struct GroupCall {
  uint32_t comm = 0;           // row of Timeline::comms
  int64_t begin = 0, end = 0;  // ns since the epoch, on the rank's own clock
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
  // By captured rank: the lowest captured rank whose clock is connected to this rank's clock, by shared
  // collectives (directly or through other ranks) or by a common machine.
  std::vector<uint32_t> one_with;
  std::vector<Repair> notes;  // clock_aligned, clock_not_aligned, clock_left
};

// A collective ends on all members at nearly the same time. So the ends of calls on sure groups give the
// difference of two clocks, if that exceeds the spread of the ends. Ranks of one machine share a clock, which
// is moved as a whole. A difference is not taken for one of clocks if steps with the same number coincide and
// it is half a step or more, or if such steps would not coincide after the move; the clock then stays as it
// is. The time is linear in the number of calls. `machine`: from FindMachines().
Clocks AlignClocks(const std::vector<CaptureRank>& ranks, const std::vector<int>& machine,
                   const std::vector<MatchedGroup>& groups);

}  // namespace chakra::pytorch
