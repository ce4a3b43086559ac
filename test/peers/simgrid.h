// SimGrid's flow model as a peer: the same links, routes and flows in its
// engine, each run in a process of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chakra::peers {

struct PeerLink {
  double bandwidth;    // bytes/s; > 0
  double latency = 0;  // s; >= 0
};

// The way from host `src` to host `dst`, the only one of that pair.
struct PeerRoute {
  int src, dst;
  std::vector<uint32_t> links;  // at least one
};

struct PeerFlow {
  uint32_t route;
  uint64_t bytes;    // > 0
  double start = 0;  // s; flows are sorted by it
  int times = 1;     // sent so often, one after the other
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

// SimGrid's model CM02 without corrections: all its factors are 1, no bound by
// a window, no cross traffic. `exact`: it solves and keeps time to 1e-12, not
// to its default precision of 1e-5 and 1e-9; slower.
//
// Comms from host to host are begun without actors, and again as they end. All
// of them are in one list of SimGrid's (3.32) that is searched at each end: few
// in flight cost least this way, many do not. `actors`: instead an actor on each
// host, as SimGrid's programs are written: it puts its messages into mailboxes,
// gets those for it, waits for all, and so for each time; `ended` of a flow is
// then when its receiver was done with all. Precondition: all start at 0, each
// as often.
//
// A flow first waits for the sum of its links' latencies L, then takes the
// links; it gets a share in proportion to 1 / L (to 1 where L is 0).
PeerResult RunSimGrid(const PeerCase& what, bool exact, bool actors = false);

}  // namespace chakra::peers
