// Grids of routers: how they are numbered and joined, and minimal routing on them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/topology/graph.h"
#include "backends/topology/guide.h"

namespace chakra {

// How the routers that differ in one coordinate only are joined: each to the
// next, the last to the first too (two of them by one link), or all with all.
enum class Join : uint8_t { kLine, kRing, kAll };

// The router at (c0, c1, ...) has the number c0 + shape[0] * (c1 + shape[1] * ...).
struct Grid {
  std::vector<int> shape;  // fastest first, each >= 1
  std::vector<Join> join;  // by dimension
  // Every dimension in which a message has still to move is offered, not only
  // the first.
  bool any_order = false;
  // A twisted torus of k x 2k, k x k x 2k or k x 2k x 2k in any order, k >= 2:
  // whatever crosses the wrap of a dimension of k also moves by k along each of 2k.
  bool twisted = false;
  int hosts = 0;         // 0: the devices are the routers; else devices on each router, as far as they go
  uint32_t devices = 0;  // all of them

  uint32_t routers() const;
  uint64_t links() const;  // those between routers
  // The number of the first router's vertex.
  uint32_t first() const { return hosts == 0 ? 0 : devices; }
};

// Adds the links of dimension `dim`, in the order that the guide expects: the
// hosts' links first, then the dimensions in order.
void AddGridLinks(const Grid& grid, size_t dim, uint16_t link_class, GraphBuilder* builder);

// Dimension order: the first dimension that differs, on a ring the shorter side
// or, half way around, either. In a twisted torus every link that is nearer.
// Keeps 4 bytes a router. `graph` is what was built of `grid`.
std::shared_ptr<const Guide> GridGuide(Grid grid, const NetworkGraph& graph);

}  // namespace chakra
