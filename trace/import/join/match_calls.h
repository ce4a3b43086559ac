// Finds which call of one rank is which call of another.
#pragma once

#include <cstdint>
#include <vector>

namespace chakra::pytorch {

// One collective call, as ranks are compared by.
struct StreamCall {
  uint64_t key = 0;            // kind and size; equal on all members of a group
  int64_t step = kNoStep;      // number of the ProfilerStep that holds the call
  int64_t begin = 0, end = 0;  // ns since the epoch, by the rank's own clock
  bool waits_for_all = true;   // no member ends before the last one began: not so for rooted collectives

  static constexpr int64_t kNoStep = -1;
};

// Call i of one rank is call i + calls of the other.
struct CallShift {
  int calls = 0;
  // The calls' kinds, sizes and steps alone tell the shift; or both lists are of one length and begin
  // together.
  bool sure = false;
  int64_t spread_ns = 0;  // what the differences of the ends vary by, in the median
};

// Whether both make the same calls from begin to end, in kind, size and the number of their step.
bool SameCalls(const std::vector<StreamCall>& a, const std::vector<StreamCall>& b);

// Finds the shift from `a` to `b`: the calls that both have agree in kind and size, and in the number of
// their step where both number their steps. Two neighbours that were under way together may stand in either
// order. Of several such shifts, takes the one under which most steps agree, then the one under which the
// difference of the ends varies least; without better evidence both begin at the same call. At most
// kMostShift calls, or the calls by which the steps say that the windows differ. False: there is none under
// which the two share half of the shorter list. Linear in calls.
inline constexpr int kMostShift = 64;
bool FindShift(const std::vector<StreamCall>& a, const std::vector<StreamCall>& b, CallShift* shift);

}  // namespace chakra::pytorch
