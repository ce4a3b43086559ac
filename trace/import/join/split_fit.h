// How well a split of ranks into groups explains when their collectives ended.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/join/group_splits.h"
#include "trace/import/join/match_calls.h"

namespace chakra::pytorch {

// The same calls of several ranks: row r, column i is call i of rank r. A column has one key.
struct SharedCalls {
  std::vector<int> machine;  // by rank; -1: its clock is its own
  std::vector<std::vector<StreamCall>> calls;
  size_t columns() const { return calls.empty() ? 0 : calls[0].size(); }
};

struct SplitFit {
  bool contradicted = false;
  int64_t by_ns = 0;  // contradicted: how long before a member's begin another one had ended, in the first
                      // group that shows it; `off` is empty then
  // By rank and column: how far the end is from where the split predicts it (ns, never negative). The
  // prediction: the group's last begin + the median, over all groups, of ends after last begins of that key.
  std::vector<std::vector<int64_t>> off;
};

// Holds `split` against the times. Clocks of one machine are one; those of other members are moved so
// that the median of the ends' differences is zero. `tolerance_ns`: what times may contradict each other by.
SplitFit FitSplit(const SharedCalls& shared, const GroupSplit& split, int64_t tolerance_ns);

// How much more begins vary between members than ends do, in the group where it is least: the median
// deviation of the differences of two members' begins, by that of their ends. Large where members wait for
// each other, whatever the collectives take. 0: a group has one member.
double WaitingShown(const SharedCalls& shared, const GroupSplit& split);

// The same over all pairs of members, the least of all groups: no two members come at one time by another
// cause, and all end together. 0 for groups of one member, or of more than kMostPaired, for which there are
// too many pairs.
inline constexpr size_t kMostPaired = 64;
double LeastWaitingShown(const SharedCalls& shared, const GroupSplit& split);

}  // namespace chakra::pytorch
