// Grids of routers: their numbers, links and minimal routing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/topology/graph.h"
#include "backends/topology/guide.h"

namespace chakra {

// How routers that differ in only one coordinate are joined. kLine: each to the next. kRing: also the last to
// the first, but two routers have only one link. kAll: all to all.
enum class Join : uint8_t { kLine, kRing, kAll };

// The router at (c0, c1, ...) has the number c0 + shape[0] * (c1 + shape[1] * ...).
struct Grid {
  std::vector<int> shape;  // fastest first, each >= 1
  std::vector<Join> join;  // by dimension
  // True: the guide offers every dimension that must still be corrected, not only the first.
  bool any_order = false;
  // True: a twisted torus of k x 2k, k x k x 2k or k x 2k x 2k in any order, k >= 2. A message that crosses
  // the wrap of a dimension of size k also moves by k along each dimension of size 2k.
  bool twisted = false;
  int hosts = 0;         // 0: the devices are the routers; else devices on each router (the last routers may
                         // have fewer)
  uint32_t devices = 0;  // number of all devices

  uint32_t routers() const;
  uint64_t links() const;  // number of links between routers
  // The number of the first router's vertex.
  uint32_t first() const { return hosts == 0 ? 0 : devices; }
};

// Adds the links of dimension `dim`. The guide expects the links of hosts first, then those of the dimensions
// in order.
void AddGridLinks(const Grid& grid, size_t dim, uint16_t link_class, GraphBuilder* builder);

// A guide for dimension order: corrects the first dimension that differs; on a ring in the shorter direction,
// or in both if they are equal. In a twisted torus it offers every link that leads nearer. Needs 4 bytes for
// each router. Precondition: `graph` was built from `grid`.
std::shared_ptr<const Guide> GridGuide(Grid grid, const NetworkGraph& graph);

}  // namespace chakra
