// Finds which calls of two ranks correspond.
#pragma once

#include <cstdint>
#include <vector>

namespace chakra::pytorch {

// A collective call, in the form in which calls of several ranks are compared.
struct StreamCall {
  uint64_t key = 0;            // kind and size; equal on all members of a group
  int64_t step = kNoStep;      // number of the ProfilerStep that holds the call
  int64_t begin = 0, end = 0;  // ns since the epoch, on the rank's own clock
  bool waits_for_all = true;   // no member ends before the last one began; false for rooted collectives

  static constexpr int64_t kNoStep = -1;
};

// Call i of one rank is call i + `calls` of the other.
struct CallShift {
  int calls = 0;
  // Kinds, sizes and steps of the calls allow no other shift; or both lists have the same length and begin
  // together.
  bool sure = false;
  int64_t spread_ns = 0;  // median deviation of the differences of the ends
};

// Whether both make the same calls from begin to end, with equal kinds, sizes and step numbers.
bool SameCalls(const std::vector<StreamCall>& a, const std::vector<StreamCall>& b);

// Finds the shift from `a` to `b` under which corresponding calls agree in kind and size, and in their step
// numbers if both have these. Two adjacent calls that ran at the same time may be in either order. Of several
// such shifts, takes the one under which most steps agree, then the one under which the difference of the
// ends varies least; without better evidence, both begin at the same call. Tries shifts of up to kMostShift
// calls, or those that the steps suggest. False: under no shift do the two share half of the shorter list.
// The time is linear in the number of calls.
inline constexpr int kMostShift = 64;
bool FindShift(const std::vector<StreamCall>& a, const std::vector<StreamCall>& b, CallShift* shift);

}  // namespace chakra::pytorch
