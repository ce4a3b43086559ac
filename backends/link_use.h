// What links did in a run, and what is done to them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/units.h"

namespace chakra {

// From `at` on a link has another bandwidth, until the next change of it.
struct LinkChange {
  Time at;
  uint32_t link = 0;     // of Topology, one direction
  double bandwidth = 1;  // share of its own; 0: it is down. Losses: what is left of the bandwidth
};

// One direction of a link.
struct LinkUse {
  uint32_t link = 0;
  std::string name;
  std::string link_class;
  int dimension = 0;
  Bandwidth bandwidth;
  uint64_t bytes = 0;  // that it carried, what protocols add included
  uint64_t flows = 0;  // that crossed it
  double peak = 0;     // the most of its bandwidth that was taken at an instant, [0, 1]
  // Share of the bandwidth taken, by bucket of LinkUses::bucket from time 0; empty unless asked for.
  std::vector<float> series;
};

struct LinkUses {
  uint64_t links = 0;            // directions of links that carried anything
  Time bucket;                   // 0: no series
  std::vector<LinkUse> busiest;  // by bytes over bandwidth, then by number
};

}  // namespace chakra
