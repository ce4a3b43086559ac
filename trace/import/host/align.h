// Aligns two sequences of names: the operators of one program as two profilers recorded them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace chakra::pytorch {

// The operators of one thread, in the order of their entry.
struct OpSequence {
  std::vector<uint32_t> name;  // equal numbers mean equal names
  std::vector<int64_t> seq;    // autograd's sequence number; negative: none
  std::vector<uint32_t> row;   // row in the table of the source
  size_t size() const { return name.size(); }
};

struct Alignment {
  std::vector<uint32_t> to;  // for each operator of `a`, its position in `b`, ascending; kNoRow: none
  uint64_t matched = 0;
  uint64_t span_a = 0;  // number of positions in `a` from the first match to the last; span_b: in `b`
  uint64_t span_b = 0;
  uint64_t windows = 1;  // number of places in `b` that fitted equally well, including the chosen one
};

// Aligns `a` with all or a part of `b`. If both have sequence numbers, names with equal sequence numbers fix
// the place. Otherwise the place is the one on which most runs of names agree; of equally good places, the
// first. Operators between fixed ones are aligned by the longest common subsequence (Myers, "An O(ND)
// difference algorithm", 1986), in pieces of bounded effort, so the time is never quadratic.
Alignment Align(const OpSequence& a, const OpSequence& b);

}  // namespace chakra::pytorch
