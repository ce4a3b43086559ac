#include "backends/topology/builders/dimension_order.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace chakra {
namespace {

// The number of arcs in one dimension of a router at coordinate `c`.
uint32_t ArcsAt(Join join, int c, int size) {
  switch (join) {
    case Join::kLine:
      return (c > 0 ? 1u : 0u) + (c + 1 < size ? 1u : 0u);
    case Join::kRing:
      return size < 3 ? static_cast<uint32_t>(size - 1) : 2;
    case Join::kAll:
      return static_cast<uint32_t>(size - 1);
  }
  return 0;
}

// Twisted tori have 2 or 3 dimensions.
using Coordinates = std::array<int, 3>;

Coordinates CoordinatesOf(const Grid& grid, uint32_t router) {
  Coordinates c{};
  for (size_t i = 0; i < grid.shape.size(); ++i) {
    c[i] = static_cast<int>(router % static_cast<uint32_t>(grid.shape[i]));
    router /= static_cast<uint32_t>(grid.shape[i]);
  }
  return c;
}

uint32_t RouterAt(const Grid& grid, const Coordinates& c) {
  uint32_t router = 0;
  for (size_t i = grid.shape.size(); i-- > 0;) {
    router = router * static_cast<uint32_t>(grid.shape[i]) + static_cast<uint32_t>(c[i]);
  }
  return router;
}

// The next router up or down (by = 1, -1) in `dim` of a twisted torus.
uint32_t TwistedNeighbour(const Grid& grid, uint32_t router, size_t dim, int by) {
  const int k = *std::min_element(grid.shape.begin(), grid.shape.end());
  Coordinates c = CoordinatesOf(grid, router);
  c[dim] += by;
  if (c[dim] < 0 || c[dim] == grid.shape[dim]) {
    c[dim] -= by * grid.shape[dim];
    for (size_t i = 0; i < grid.shape.size() && grid.shape[dim] == k; ++i) {
      if (grid.shape[i] != k) c[i] = (c[i] + k) % (2 * k);
    }
  }
  return RouterAt(grid, c);
}

// The common part of both guides: the devices on routers, and the numbers of the routers' arcs.
class GridGuideBase : public Guide {
 public:
  GridGuideBase(Grid grid, const NetworkGraph& graph) : grid_(std::move(grid)) {
    const uint32_t routers = grid_.routers(), first = grid_.first();
    arcs_of_.reserve(routers);
    for (uint32_t r = 0; r < routers; ++r) arcs_of_.push_back(graph.begin(first + r));
  }

  void Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) const override {
    if (at == to) return;
    const uint32_t first = grid_.first();
    if (at < first) {
      arcs->push_back(at);  // a device's only link
      return;
    }
    const auto hosts = static_cast<uint32_t>(grid_.hosts);
    const uint32_t router = at - first;
    const uint32_t there = to < first ? to / hosts : to - first;
    const uint32_t mine = hosts == 0 ? 0 : HostsOf(router, hosts);
    if (router == there) {
      arcs->push_back(arcs_of_[router] + to % hosts);
    } else {
      Step(router, there, arcs_of_[router] + mine, arcs);
    }
  }

 protected:
  // `arc` is the first arc of `at` to another router.
  virtual void Step(uint32_t at, uint32_t to, uint32_t arc, std::vector<uint32_t>* arcs) const = 0;
  const Grid grid_;

 private:
  uint32_t HostsOf(uint32_t router, uint32_t hosts) const {
    const uint64_t before = uint64_t{router} * hosts;
    return before >= grid_.devices ? 0 : std::min(hosts, static_cast<uint32_t>(grid_.devices - before));
  }
  std::vector<uint32_t> arcs_of_;  // by router
};

class DimensionOrder : public GridGuideBase {
 public:
  using GridGuideBase::GridGuideBase;

 private:
  void Step(uint32_t at, uint32_t to, uint32_t arc, std::vector<uint32_t>* arcs) const override {
    for (size_t dim = 0; at != to; ++dim) {
      const auto size = static_cast<uint32_t>(grid_.shape[dim]);
      const auto here = static_cast<int>(at % size), there = static_cast<int>(to % size);
      at /= size;
      to /= size;
      if (here != there) {
        Toward(grid_.join[dim], here, there, static_cast<int>(size), arc, arcs);
        if (!grid_.any_order) return;
      }
      arc += ArcsAt(grid_.join[dim], here, static_cast<int>(size));
    }
  }

  static void Toward(Join join, int here, int there, int size, uint32_t arc, std::vector<uint32_t>* arcs) {
    if (join == Join::kAll) {
      arcs->push_back(arc + static_cast<uint32_t>(there < here ? there : there - 1));
      return;
    }
    if (join == Join::kLine) {
      arcs->push_back(arc + (there > here && here > 0 ? 1 : 0));
      return;
    }
    const int up = there > here ? there - here : there - here + size;
    const bool up_is_first = here == 0;
    if (size == 2) {
      arcs->push_back(arc);
      return;
    }
    if (2 * up <= size) arcs->push_back(arc + (up_is_first ? 0 : 1));
    if (2 * up >= size) arcs->push_back(arc + (up_is_first ? 1 : 0));
  }
};

// A twisted torus is the integer lattice modulo another lattice. So the distance is the minimum sum of
// |steps| over all representations of the difference, and a neighbour is nearer exactly if it is on a
// representation with the minimum sum. In a dimension of size k the steps are there - here + w * k; if the
// sum of all w is odd, the target moves by k along the other dimensions. |w| > 1 never gives the minimum,
// because w and w +- 2 have the same effect and |there - here| < k.
class TwistedTorus : public GridGuideBase {
 public:
  TwistedTorus(Grid grid, const NetworkGraph& graph) : GridGuideBase(std::move(grid), graph) {
    k_ = *std::min_element(grid_.shape.begin(), grid_.shape.end());
    for (size_t i = 0; i < grid_.shape.size(); ++i) (grid_.shape[i] == k_ ? short_ : long_).push_back(i);
  }

 private:
  void Step(uint32_t at, uint32_t to, uint32_t arc, std::vector<uint32_t>* arcs) const override {
    const Coordinates here = CoordinatesOf(grid_, at), there = CoordinatesOf(grid_, to);
    int least = -1;
    unsigned ways = 0;  // bit 2 * dim: up; bit 2 * dim + 1: down
    const int combinations = short_.size() == 2 ? 9 : 3;
    for (int i = 0; i < combinations; ++i) {
      const std::array<int, 2> wraps = {i % 3 - 1, short_.size() == 2 ? i / 3 - 1 : 0};
      unsigned these = 0;
      const int steps = Steps(here, there, wraps, &these);
      if (least >= 0 && steps > least) continue;
      ways = steps == least ? ways | these : these;
      least = steps;
    }
    for (size_t dim = 0; dim < grid_.shape.size(); ++dim) {
      if ((ways >> (2 * dim) & 3) == 0) continue;
      const auto pair = static_cast<uint32_t>(2 * dim);
      // Each link was added by the end with the lower number, in the order of these numbers.
      const bool up_is_first = here[dim] == 0 && TwistedNeighbour(grid_, at, dim, -1) > at;
      if (ways >> pair & 1) arcs->push_back(arc + pair + (up_is_first ? 0 : 1));
      if (ways >> pair & 2) arcs->push_back(arc + pair + (up_is_first ? 1 : 0));
    }
  }

  int Steps(const Coordinates& here, const Coordinates& there, const std::array<int, 2>& wraps,
            unsigned* ways) const {
    int sum = 0, crossed = 0;
    for (size_t i = 0; i < short_.size(); ++i) {
      const size_t dim = short_[i];
      const int steps = there[dim] - here[dim] + wraps[i] * k_;
      if (steps != 0) *ways |= (steps > 0 ? 1u : 2u) << (2 * dim);
      sum += std::abs(steps);
      crossed += wraps[i];
    }
    const int moved = crossed % 2 == 0 ? 0 : k_;
    for (const size_t dim : long_) {
      const int up = (there[dim] - here[dim] + moved + 2 * k_) % (2 * k_);
      if (up > 0 && up <= k_) *ways |= 1u << (2 * dim);
      if (up >= k_) *ways |= 2u << (2 * dim);
      sum += std::min(up, 2 * k_ - up);
    }
    return sum;
  }

  int k_ = 0;
  std::vector<size_t> short_, long_;  // dimensions of k_ and of 2 * k_
};

}  // namespace

uint32_t Grid::routers() const {
  uint32_t n = 1;
  for (const int size : shape) n *= static_cast<uint32_t>(size);
  return n;
}

uint64_t Grid::links() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto size = static_cast<uint64_t>(shape[i]);
    const uint64_t lines = routers() / size;
    switch (join[i]) {
      case Join::kLine:
        sum += lines * (size - 1);
        break;
      case Join::kRing:
        sum += lines * (size < 3 && !twisted ? size - 1 : size);
        break;
      case Join::kAll:
        sum += lines * (size * (size - 1) / 2);
        break;
    }
  }
  return sum;
}

void AddGridLinks(const Grid& grid, size_t dim, uint16_t link_class, GraphBuilder* builder) {
  const uint32_t routers = grid.routers(), first = grid.first();
  uint32_t stride = 1;
  for (size_t i = 0; i < dim; ++i) stride *= static_cast<uint32_t>(grid.shape[i]);
  const auto size = static_cast<uint32_t>(grid.shape[dim]);
  const auto add = [&](uint32_t a, uint32_t b) { builder->AddLink(first + a, first + b, link_class); };
  for (uint32_t r = 0; r < routers; ++r) {
    const uint32_t c = r / stride % size;
    if (grid.twisted) {
      add(r, TwistedNeighbour(grid, r, dim, 1));
    } else if (grid.join[dim] == Join::kAll) {
      for (uint32_t other = c + 1; other < size; ++other) add(r, r + (other - c) * stride);
    } else if (c + 1 < size) {
      add(r, r + stride);
    } else if (grid.join[dim] == Join::kRing && size > 2) {
      add(r, r - c * stride);
    }
  }
}

std::shared_ptr<const Guide> GridGuide(Grid grid, const NetworkGraph& graph) {
  if (grid.twisted) return std::make_shared<TwistedTorus>(std::move(grid), graph);
  return std::make_shared<DimensionOrder>(std::move(grid), graph);
}

}  // namespace chakra
