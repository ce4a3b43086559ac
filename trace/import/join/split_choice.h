// Chooses among the splits that were held against the times.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/join/group_splits.h"
#include "trace/import/join/split_fit.h"

namespace chakra::pytorch {

// One split that was held against the times.
struct Held {
  const GroupSplit* split = nullptr;
  bool contradicted = false;
  int64_t by_ns = 0;
  int64_t middle = 0;  // of what ends are off by
};

// The median of what ends are off by.
int64_t MiddleOff(const SplitFit& fit);

// By how much one split predicts worse than another, in standard errors over calls, and in the mean.
struct Gain {
  double errors = 0, mean = 0;
};

// The least gain of the best split over the others that are left, each rank alone included; and the largest
// groups that are not clearly worse.
struct Comparison {
  size_t others = 0;        // splits into groups, contradicted ones included
  Gain least = {1e9, 1e9};  // over other splits that are left
  Gain alone;
  const GroupSplit* largest = nullptr;
  bool even = true;    // the best split predicts each of its groups about as well as the others
  double waiting = 0;  // as of WaitingShown()
  // Where all other splits are contradicted, only splits into unequal groups are left, which are rare: then
  // it is enough that members are seen to wait. Where there is no other split, nothing speaks for this one
  // but how it predicts.
  bool Clear() const;
};

// The split that predicts best of those that nothing contradicts; null: there is none.
const Held* Best(const std::vector<Held>& held);

Comparison Compare(const SharedCalls& shared, const std::vector<Held>& held, const Held& best,
                   int64_t tolerance);

// The split that all others only divide, of those that nothing contradicts, if all members of its groups end
// together while no two of them begin together; else null. Where collectives take now one time, now another,
// this tells what predictions do not.
const GroupSplit* Together(const SharedCalls& shared, const std::vector<Held>& held);

// What ends tell by clocks as they are, in bits: of two ranks that do not meet, ends are as far apart as
// begins, and half as far by chance once in two calls.
struct Coincidence {
  const GroupSplit* split = nullptr;  // for which ends tell most; null: nothing tells
  double bits = 0;                    // by how much more than for each other split that is left
  double by_call = 0;                 // bits of a member's call
  bool likely = false;     // of larger groups ends do not tell much; if clocks may be off, nor then
  bool one_clock = false;  // all ranks are of one machine
};
inline constexpr double kSureBits = 12, kLikelyBits = 3;
Coincidence Coinciding(const SharedCalls& shared, const std::vector<Held>& held);

}  // namespace chakra::pytorch
