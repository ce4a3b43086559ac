// Chooses among splits after they were compared with the times.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/join/group_splits.h"
#include "trace/import/join/split_fit.h"

namespace chakra::pytorch {

// One split that was compared with the times.
struct Held {
  const GroupSplit* split = nullptr;
  bool contradicted = false;
  int64_t by_ns = 0;
  int64_t middle = 0;  // median error of the predicted ends
};

// The median error of the predicted ends.
int64_t MiddleOff(const SplitFit& fit);

// How much worse one split predicts than another: in standard errors over calls, and in the mean.
struct Gain {
  double errors = 0, mean = 0;
};

// The best split compared with the other possible (not contradicted) ones, including each rank alone.
// `largest`: the split into the largest groups that is not clearly worse.
struct Comparison {
  size_t others = 0;        // number of other splits into groups, including contradicted ones
  Gain least = {1e9, 1e9};  // minimum over the other possible splits
  Gain alone;
  const GroupSplit* largest = nullptr;
  bool even = true;    // the best split predicts each of its groups about equally well
  double waiting = 0;  // see WaitingShown()
  // Whether the best split is clearly the right one. If all other splits are contradicted, only unequal
  // groups could be an alternative, and these are rare: then it is enough that members are seen to wait. If
  // there never was another split, the only evidence is how well this one predicts.
  bool Clear() const;
};

// The possible split that predicts best; null: all splits are contradicted.
const Held* Best(const std::vector<Held>& held);

Comparison Compare(const SharedCalls& shared, const std::vector<Held>& held, const Held& best,
                   int64_t tolerance);

// Of the possible splits, the one that all others divide further, if all members of its groups end together
// and no two of them begin together; else null. Decides where predictions do not, because the collectives
// take varying times.
const GroupSplit* Together(const SharedCalls& shared, const std::vector<Held>& held);

// Evidence from ends that coincide, in bits, with clocks as they are. The ends of two ranks that do not wait
// for each other are as far apart as their begins, and half as far by chance in one of two calls.
struct Coincidence {
  const GroupSplit* split = nullptr;  // the split with most evidence; null: none
  double bits = 0;                    // evidence beyond that of each other possible split
  double by_call = 0;                 // bits for each call of a member
  // Ends do not also coincide in larger groups; differences between clocks are removed if clocks may differ.
  bool likely = false;
  bool one_clock = false;  // all ranks are on one machine
};
inline constexpr double kSureBits = 12, kLikelyBits = 3;
Coincidence Coinciding(const SharedCalls& shared, const std::vector<Held>& held);

}  // namespace chakra::pytorch
