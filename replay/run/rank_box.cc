#include "replay/run/rank_box.h"

#include <algorithm>

namespace chakra {

int64_t RankBox::BaseOf(int64_t rank) const {
  int64_t at = rank;
  for (const Side& side : sides) at -= rank / side.stride % side.count * side.stride;
  return at;
}

std::vector<int> RankBox::Ranks() const {
  std::vector<int> ranks = {static_cast<int>(base)};
  for (const Side& side : sides) {
    const size_t before = ranks.size();
    for (int64_t a = 1; a < side.count; ++a) {
      for (size_t i = 0; i < before; ++i) ranks.push_back(static_cast<int>(ranks[i] + a * side.stride));
    }
  }
  return ranks;
}

bool RankBox::Tiles(int64_t ranks) const { return BaseOf(base) == base && ranks % Block() == 0; }

std::optional<RankBox> BoxOf(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  if (ranks.empty() || ranks[0] < 0) return std::nullopt;
  RankBox box;
  box.base = ranks[0];
  const auto offset = [&](size_t i) { return int64_t{ranks[i]} - box.base; };
  for (size_t block = 1; block < ranks.size();) {  // invariant: the first `block` ranks are a box
    RankBox::Side side{offset(block), 1};
    if (side.stride <= (box.sides.empty() ? 0 : offset(block - 1))) return std::nullopt;
    if (!box.sides.empty() && side.stride % (box.sides.back().stride * box.sides.back().count) != 0)
      return std::nullopt;
    const auto repeats = [&](size_t at) {
      for (size_t i = 0; i < block; ++i) {
        if (at + i >= ranks.size() || offset(at + i) != side.count * side.stride + offset(i)) return false;
      }
      return true;
    };
    for (size_t at = block; at < ranks.size() && repeats(at); at += block) ++side.count;
    if (side.count < 2) return std::nullopt;
    block *= static_cast<size_t>(side.count);
    box.sides.push_back(side);
  }
  return box.Ranks() == ranks ? std::optional(box) : std::nullopt;
}

}  // namespace chakra
