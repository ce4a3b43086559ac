// The two ends of a connection, and the paths that its packets may take.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/packet/network/packet.h"
#include "backends/packet/ways/path_table.h"

namespace chakra::packet {

// The data of a connection that changes seldom or never.
struct Connection {
  uint64_t tag = 0;
  uint32_t generation = 0;  // increases when the connection's number is used again
  uint32_t ways = 0;        // number of the first of its paths
  int src = 0, dst = 0;
  uint32_t sender = 0;  // number of its Sender; if parked, of its message
  uint8_t traffic_class = 1;
  bool begun = false;    // has a transport
  bool cut_off = false;  // has no path
  // Only represents flows in a ring that are not made yet: `ways` is their number in LaterFlows.
  bool later = false;
  bool made = false;    // was made for such a flow
  bool parked = false;  // has sent its only message, and has no sender until the message is acknowledged
};

// A path, and the path back of its acknowledgements. Both are ranges of PathTable.
struct Way {
  uint32_t ports = 0, back = 0;
  uint8_t hops = 0, hops_back = 0;
  bool known = false;
  bool found = false;
  uint32_t epoch = 0;  // value of Ways::epoch() at which it was found

  // Appends the ports of the path, then those of the path back.
  void AppendPorts(const PathTable& paths, std::vector<uint32_t>* to) const {
    for (uint32_t i = 0; i < hops; ++i) to->push_back(paths[ports + i]);
    for (uint32_t i = 0; i < hops_back; ++i) to->push_back(paths[back + i]);
  }
};

}  // namespace chakra::packet
