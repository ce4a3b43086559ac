// Aligns two sequences of names: the operators of one program as two profilers saw them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace chakra::pytorch {

// The operators of one thread, in the order of their entry.
struct OpSequence {
  std::vector<uint32_t> name;  // equal numbers mean equal names
  std::vector<int64_t> seq;    // autograd's sequence number; negative: none
  std::vector<uint32_t> row;   // row in the source's table
  size_t size() const { return name.size(); }
};

struct Alignment {
  std::vector<uint32_t> to;  // for each operator of `a` its position in `b`, ascending; kNoRow: none
  uint64_t matched = 0;
  uint64_t span_a = 0;  // positions from the first match to the last
  uint64_t span_b = 0;
  uint64_t windows = 1;  // how many places in `b` fitted equally well, the chosen one included
};

// Aligns `a` with all or a part of `b`. If both have sequence numbers, names with equal sequence numbers fix
// the place. Otherwise most runs of names must agree on the place; of equally good places the first is
// chosen. Operators between fixed ones are aligned by the longest common subsequence (Myers, "An O(ND)
// difference algorithm", 1986), in pieces of bounded effort: never quadratic.
Alignment Align(const OpSequence& a, const OpSequence& b);

}  // namespace chakra::pytorch
