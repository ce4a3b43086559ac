// Paths of a topology, for the tests of the parts of fabric `packet`.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "backends/packet/network/network.h"
#include "backends/packet/ways/ways.h"
#include "backends/topology/routing/router.h"

namespace chakra::packet {

// Finds the paths of a topology, and records the paths that it was asked for.
class TopologyWays : public WayFinder {
 public:
  // Both must outlive this. `ways` may be null: then only AddPath() may be called.
  TopologyWays(PacketNetwork* network, Ways* ways)
      : network_(*network), ways_(ways), router_(network->topology(), RoutingOptions()) {
    if (ways != nullptr) ways->set_finder(this);
  }
  void Find(const Connection& c, uint32_t way_of_connection) override {
    asked.push_back(way_of_connection);
    Way& way = (*ways_)[c.ways + way_of_connection];
    way.found = found;
    std::tie(way.ports, way.hops) = AddPath(c.src, c.dst, &ways_->paths());
    std::tie(way.back, way.hops_back) = AddPath(c.dst, c.src, &ways_->paths());
  }
  // Adds the path; returns its place in the table and the number of its hops.
  std::pair<uint32_t, uint8_t> AddPath(int from, int to, PathTable* paths) {
    const uint32_t first = paths->size();
    for (const RouteHop& h : router_.FindWay(from, to, 0).hops) paths->Add(network_.PortOf(h.hop));
    return {first, static_cast<uint8_t>(paths->size() - first)};
  }

  std::vector<uint32_t> asked;  // numbers of the paths of connections
  bool found = true;            // whether Find() finds a path

 private:
  PacketNetwork& network_;
  Ways* ways_;
  Router router_;
};

}  // namespace chakra::packet
