#include "replay/nccl/rings.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace chakra {
namespace {

constexpr int kMostDevices = 8;
constexpr int kMostSteps = 200000;  // steps of the search; real machines need far fewer

class Packing {
 public:
  Packing(const std::vector<int>& links, int devices, const std::vector<int>& positions)
      : left_(links), devices_(devices), positions_(positions) {}

  int Run(bool relays) {
    Enumerate(relays);
    int free = 0;
    for (int other = 0; other < devices_; ++other) free += left_[At(positions_[0], other)];
    most_ = free;
    Pack(0, 0);
    return best_;
  }

 private:
  using Ring = std::vector<std::pair<int, int>>;  // the directed links of a ring
  size_t At(int a, int b) const { return static_cast<size_t>(a) * devices_ + b; }

  // Finds all rings; each begins at the first position.
  void Enumerate(bool relays) {
    std::vector<int> order(positions_.begin() + 1, positions_.end());
    std::sort(order.begin(), order.end());
    do {
      Ring ring;
      bool whole = true;
      int at = positions_[0];
      for (size_t i = 0; i <= order.size() && whole; ++i) {
        const int to = i < order.size() ? order[i] : positions_[0];
        whole = Hop(at, to, relays, &ring);
        at = to;
      }
      if (whole) rings_.push_back(std::move(ring));
    } while (std::next_permutation(order.begin(), order.end()));
  }

  bool Hop(int a, int b, bool relays, Ring* ring) const {
    if (left_[At(a, b)] > 0) {
      ring->push_back({a, b});
      return true;
    }
    for (const int via : positions_) {
      if (!relays || left_[At(a, via)] == 0 || left_[At(via, b)] == 0) continue;
      ring->push_back({a, via});
      ring->push_back({via, b});
      return true;
    }
    return false;
  }

  bool Take(const Ring& ring, int sign) {
    bool fits = true;
    for (const auto& [a, b] : ring) fits = (left_[At(a, b)] -= sign) >= 0 && fits;
    return fits;
  }

  void Pack(size_t from, int count) {
    best_ = std::max(best_, count);
    for (size_t i = from; i < rings_.size() && best_ < most_ && ++steps_ < kMostSteps; ++i) {
      if (Take(rings_[i], 1)) Pack(i, count + 1);
      Take(rings_[i], -1);
    }
  }

  std::vector<int> left_;
  int devices_;
  std::vector<int> positions_;
  std::vector<Ring> rings_;
  int most_ = 0;
  int best_ = 0;
  int steps_ = 0;
};

// The minimum number of links that a position has to the others; 0 if the links do not connect all positions.
int FewestLinks(const std::vector<int>& links, int devices, const std::vector<int>& positions) {
  std::vector<int> reached = {positions[0]};
  int fewest = std::numeric_limits<int>::max();
  for (size_t i = 0; i < reached.size(); ++i) {
    int own = 0;
    for (const int other : positions) {
      const int n = links[static_cast<size_t>(reached[i]) * devices + other];
      own += n;
      if (n > 0 && std::find(reached.begin(), reached.end(), other) == reached.end())
        reached.push_back(other);
    }
    fewest = std::min(fewest, own);
  }
  return reached.size() == positions.size() ? fewest : 0;
}

}  // namespace

int RingsThatFit(const std::vector<int>& links, int devices, const std::vector<int>& positions) {
  if (positions.size() < 2) return 0;
  if (positions.size() > kMostDevices) return FewestLinks(links, devices, positions);
  const int direct = Packing(links, devices, positions).Run(false);
  return direct > 0 ? direct : Packing(links, devices, positions).Run(true);
}

}  // namespace chakra
