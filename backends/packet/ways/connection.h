// Who a connection is between, and the ways that its packets may take.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/packet/network/packet.h"
#include "backends/packet/ways/path_table.h"

namespace chakra::packet {

// What does not change of a connection, or seldom.
struct Connection {
  uint64_t tag = 0;
  uint32_t generation = 0;  // grows when its number is used again
  uint32_t ways = 0;        // the first of its ways
  int src = 0, dst = 0;
  uint32_t sender = 0;  // the number of its Sender; where it is parked, its message
  uint8_t traffic_class = 1;
  bool begun = false;    // has its transport
  bool cut_off = false;  // has no way
  bool later = false;    // stands in a ring for flows that are not made: `ways` is their number in LaterFlows
  bool made = false;     // of such a flow
  bool parked = false;   // has sent its only message, and is without a sender until that is acknowledged
};

// A way there and the way back of its acknowledgements: runs of PathTable.
struct Way {
  uint32_t ports = 0, back = 0;
  uint8_t hops = 0, hops_back = 0;
  bool known = false;
  bool found = false;
  uint32_t epoch = 0;  // of the routes

  // There, then back.
  void AppendPorts(const PathTable& paths, std::vector<uint32_t>* to) const {
    for (uint32_t i = 0; i < hops; ++i) to->push_back(paths[ports + i]);
    for (uint32_t i = 0; i < hops_back; ++i) to->push_back(paths[back + i]);
  }
};

}  // namespace chakra::packet
