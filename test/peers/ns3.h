// ns-3 as a peer at the level of packets: the same links, routes, windows and flows over its point-to-point
// devices. Each run is its own process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chakra::peers {

struct Ns3Link {      // one direction
  uint32_t from, to;  // vertices, numbered from 0
  uint64_t rate;      // bytes/s; > 0
  int64_t delay = 0;  // ps; >= 0
};

struct Ns3Flow {
  std::vector<uint32_t> way;   // links there, each once; at least one
  std::vector<uint32_t> back;  // links of the acknowledgements
  uint64_t bytes;              // payload; > 0
  int64_t start = 0;           // ps
  uint32_t window = 1;         // packets in flight; > 0
};

struct Ns3Case {
  uint32_t mtu = 4096;   // payload of a full packet; bytes
  uint32_t header = 64;  // extra bytes of a data packet on links
  uint32_t ack = 64;     // an acknowledgement on links; bytes
  std::vector<Ns3Link> links;
  std::vector<Ns3Flow> flows;
};

struct Ns3Result {
  std::string error;              // empty: none
  std::vector<int64_t> received;  // ps: arrival of each flow's last byte
  std::vector<int64_t> acked;     // ps: arrival of its last acknowledgement
  uint64_t hops = 0;              // packets times links that they crossed, acknowledgements included
  double seconds = 0;             // CPU time of the simulation, set-up excluded
};

enum class Ns3Stack {
  // Devices only: packets follow their flow's route; ports serve acknowledgements before data, and each kind
  // in order of arrival.
  kDevices,
  // The usual stack of ns-3: UDP over IPv4, with the default queue discipline, and the faster of its routings
  // for such networks (Nix vectors; its global routing looks at every route for each packet). ns-3 chooses
  // the routes, the first of the shortest; they must be as long as those of the case.
  kUdp,
};

// Switches store and forward without limit; a receiver acknowledges each packet. Sizes on links are those of
// the case, with ns-3's own headers in them. Transmission times are cut to whole picoseconds.
Ns3Result RunNs3(const Ns3Case& what, Ns3Stack stack = Ns3Stack::kDevices);

}  // namespace chakra::peers
