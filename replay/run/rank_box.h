// The ranks of a group as a box in rank numbers, and the boxes beside it that fill all ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace chakra {

// The ranks base + a_0 * stride_0 + a_1 * stride_1 + ..., 0 <= a_i < count_i. Each stride is a multiple of
// the stride times the count before it, so that every rank has one place along each side.
struct RankBox {
  struct Side {
    int64_t stride = 1;
    int64_t count = 2;  // at least 2
  };
  int64_t base = 0;
  std::vector<Side> sides;  // the smallest stride first; none: one rank

  // The base of the box of this shape that `rank` is in.
  int64_t BaseOf(int64_t rank) const;
  // The ranks of the box, ascending.
  std::vector<int> Ranks() const;
  // Ranks that boxes side by side need before the pattern begins anew.
  int64_t Block() const { return sides.empty() ? 1 : sides.back().stride * sides.back().count; }
  // Whether boxes of this shape, this one among them, fill `ranks` ranks.
  bool Tiles(int64_t ranks) const;
};

// Of ranks in any order. Nothing: they are no box.
std::optional<RankBox> BoxOf(std::vector<int> ranks);

}  // namespace chakra
