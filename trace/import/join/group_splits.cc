#include "trace/import/join/group_splits.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace chakra::pytorch {
namespace {

// One dimension of a split: `size` ranks that are `stride` apart.
struct Dimension {
  int size = 1, stride = 1;
};

// The dimensions of n ranks: n is a multiple of size * stride, so that all groups are equal.
std::vector<Dimension> Dimensions(int n) {
  std::vector<Dimension> all;
  for (int stride = 1; stride < n; ++stride) {
    if (n % stride != 0) continue;
    for (int size = 2; size * stride <= n; ++size) {
      if (n % (size * stride) == 0) all.push_back({size, stride});
    }
  }
  return all;
}

// A number that is equal for the ranks of one group, and differs between groups.
int64_t Without(int64_t rank, const Dimension& d) {
  const int64_t block = int64_t{d.size} * d.stride;
  return rank / block * block + rank % d.stride;
}

class Splits {
 public:
  explicit Splits(const std::vector<int>& ranks) : ranks_(ranks) {}

  template <typename KeyOf>
  void Add(const KeyOf& key_of, const std::string& words) {
    GroupSplit split;
    std::map<int64_t, uint32_t> numbers;
    std::vector<int> members;
    for (uint32_t i = 0; i < ranks_.size(); ++i) {
      const auto [it, fresh] = numbers.try_emplace(key_of(i), static_cast<uint32_t>(members.size()));
      if (fresh) members.push_back(0);
      ++members[it->second];
      split.group.push_back(it->second);
    }
    split.groups = static_cast<uint32_t>(members.size());
    const bool equal = std::all_of(members.begin(), members.end(), [&](int m) { return m == members[0]; });
    split.size = equal && !members.empty() ? members[0] : 0;
    split.words = words;
    if (seen_.insert(split.group).second) out_.push_back(std::move(split));
  }
  std::vector<GroupSplit> Take() { return std::move(out_); }

 private:
  const std::vector<int>& ranks_;
  std::set<std::vector<uint32_t>> seen_;
  std::vector<GroupSplit> out_;
};

}  // namespace

std::vector<GroupSplit> RegularSplits(const std::vector<int>& ranks, int world) {
  Splits splits(ranks);
  const auto n = static_cast<int>(ranks.size());
  splits.Add([](uint32_t) { return int64_t{0}; }, absl::StrCat("one group of ", n, " ranks"));
  const auto add = [&](int count, const auto& number) {
    const std::vector<Dimension> all = Dimensions(count);
    for (const Dimension& d : all) {
      splits.Add([&](uint32_t i) { return Without(number(i), d); },
                 absl::StrCat("groups of ", d.size, " ranks, ", d.stride, " apart"));
    }
    for (const Dimension& inner : all) {
      for (const Dimension& outer : all) {
        if (outer.stride % (inner.size * inner.stride) != 0) continue;
        splits.Add([&](uint32_t i) { return Without(Without(number(i), inner), outer); },
                   absl::StrCat("groups of ", inner.size, " x ", outer.size, " ranks, ", inner.stride,
                                " and ", outer.stride, " apart"));
      }
    }
  };
  add(n, [](uint32_t i) { return int64_t{i}; });
  constexpr int kMostRanks = 1 << 16;
  if (world > n && world <= kMostRanks) add(world, [&](uint32_t i) { return int64_t{ranks[i]}; });
  splits.Add([](uint32_t i) { return int64_t{i}; }, "each rank alone");
  return splits.Take();
}

}  // namespace chakra::pytorch
