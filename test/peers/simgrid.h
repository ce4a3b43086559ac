// SimGrid's flow model as a peer: the same links, routes and flows in its engine. Each run is its own
// process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chakra::peers {

struct PeerLink {
  double bandwidth;    // bytes/s; > 0
  double latency = 0;  // s; >= 0
};

// The only route from host `src` to host `dst`.
struct PeerRoute {
  int src, dst;
  std::vector<uint32_t> links;  // at least one
};

struct PeerFlow {
  uint32_t route;
  uint64_t bytes;    // > 0
  double start = 0;  // s; flows are sorted by it
  int times = 1;     // number of sends, one after the other
};

struct PeerCase {
  std::vector<PeerLink> links;  // one direction each
  std::vector<PeerRoute> routes;
  std::vector<PeerFlow> flows;
};

struct PeerResult {
  std::string error;          // empty: none
  std::vector<double> ended;  // s, of each flow's last time
  double seconds = 0;         // CPU time from the first flow's start to the last one's end, set-up excluded
};

// SimGrid's model CM02 without corrections: all its factors are 1, without a bound by a window and without
// cross traffic. With `exact`, SimGrid solves and keeps time to 1e-12 instead of its default precision of
// 1e-5 and 1e-9; this is slower.
//
// Comms between hosts start without actors, and start again when they end. SimGrid (3.32) has all comms in
// one list, which it searches at each end; this costs little with few comms in flight, and much with many.
// With `actors`, each host has an actor instead, as in most SimGrid programs: in each round it puts its
// messages into mailboxes, gets the messages for its host, and waits for all. A flow then ends when its
// receiver has finished all rounds. Precondition: all flows start at 0 and have the same number of sends.
//
// A flow first waits for the sum of its links' latencies L, then takes the links; its share is in proportion
// to 1 / L (to 1 if L is 0).
PeerResult RunSimGrid(const PeerCase& what, bool exact, bool actors = false);

}  // namespace chakra::peers
