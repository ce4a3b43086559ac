// Measures how well a split of ranks into groups explains when their collectives ended.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/join/group_splits.h"
#include "trace/import/join/match_calls.h"

namespace chakra::pytorch {

// The same calls of several ranks: row r, column i is call i of rank r. The calls of a column have the same
// key.
struct SharedCalls {
  std::vector<int> machine;  // by rank; -1: the rank has its own clock
  std::vector<std::vector<StreamCall>> calls;
  size_t columns() const { return calls.empty() ? 0 : calls[0].size(); }
};

struct SplitFit {
  bool contradicted = false;
  // If contradicted: how long before a member's begin another member had ended, in the first group that shows
  // it.
  int64_t by_ns = 0;
  // By rank and column: the distance of the end from its prediction (ns, never negative). Empty if
  // contradicted. The prediction: the group's last begin + the median, over all groups, of the times from
  // last begins to ends for that key.
  std::vector<std::vector<int64_t>> off;
};

// Compares `split` with the times. Ranks of one machine share a clock. Other clocks are moved so that the
// median difference of the ends is zero. `tolerance_ns`: by how much times may contradict each other.
SplitFit FitSplit(const SharedCalls& shared, const GroupSplit& split, int64_t tolerance_ns);

// How much more begins vary between members than ends do, in the group in which this is smallest: the median
// deviation of the differences of two members' begins, divided by that of their ends. A large value shows
// that members wait for each other, however long the collectives take. 0: a group has one member.
double WaitingShown(const SharedCalls& shared, const GroupSplit& split);

// WaitingShown() as the minimum over all pairs of members of all groups. A large value shows that all members
// end together and that no two members begin together for another reason. 0 if a group has one member, or
// more than kMostPaired, which have too many pairs.
inline constexpr size_t kMostPaired = 64;
double LeastWaitingShown(const SharedCalls& shared, const GroupSplit& split);

}  // namespace chakra::pytorch
