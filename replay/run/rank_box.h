// Describes the ranks of a group as a box of rank numbers, which copies of the box can tile.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace chakra {

// The ranks base + a_0 * stride_0 + a_1 * stride_1 + ..., 0 <= a_i < count_i. Each stride is a multiple of
// the previous stride times its count, so that every rank has one place along each side.
struct RankBox {
  struct Side {
    int64_t stride = 1;
    int64_t count = 2;  // at least 2
  };
  int64_t base = 0;
  std::vector<Side> sides;  // in order of increasing stride; none: one rank

  // The base of the box of this shape that contains `rank`.
  int64_t BaseOf(int64_t rank) const;
  // The ranks of the box, ascending.
  std::vector<int> Ranks() const;
  // The number of ranks after which the pattern of adjacent boxes repeats.
  int64_t Block() const { return sides.empty() ? 1 : sides.back().stride * sides.back().count; }
  // Whether boxes of this shape, including this box, fill `ranks` ranks exactly.
  bool Tiles(int64_t ranks) const;
};

// The box of these ranks, given in any order. nullopt: they are not a box.
std::optional<RankBox> BoxOf(std::vector<int> ranks);

}  // namespace chakra
