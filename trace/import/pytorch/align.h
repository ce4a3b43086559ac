// Aligns two sequences of names: the same program's operators as two
// profilers saw them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace chakra::pytorch {

// The operators of one thread, in the order in which they were entered.
struct OpSequence {
  std::vector<uint32_t> name;  // equal numbers are equal names
  std::vector<int64_t> seq;    // autograd's sequence number; negative: none
  std::vector<uint32_t> row;   // of the source's table
  size_t size() const { return name.size(); }
};

struct Alignment {
  std::vector<uint32_t> to;  // for each of `a` the position in `b`, ascending; kNoRow: none
  uint64_t matched = 0;
  uint64_t span_a = 0;  // positions from the first match to the last
  uint64_t span_b = 0;
  uint64_t windows = 1;  // places in `b` that fitted as well as the one that was taken, and it
};

// Aligns `a` with all or a part of `b`. Where both have sequence numbers, names
// that carry the same one fix the place; else the place is the one that most
// runs of names agree on, the first of equally good ones. What lies between is
// aligned by the longest common subsequence (Myers, "An O(ND) difference
// algorithm", 1986), in pieces of bounded effort: never quadratic.
Alignment Align(const OpSequence& a, const OpSequence& b);

}  // namespace chakra::pytorch
