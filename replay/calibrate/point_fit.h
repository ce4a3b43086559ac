// What messages between two devices (perftest, osu_latency, osu_bw) tell of a cluster's network.
#pragma once

#include <string>
#include <vector>

#include "proto/cluster.pb.h"
#include "replay/calibrate/micro_benchmarks.h"

namespace chakra {

struct PointFit {
  proto::Cluster cluster;
  // A line for each field that was told: old and new value, what told it, what is assumed.
  std::vector<std::string> fitted;
  std::vector<std::string> kept;  // a line for each field that stays, with the reason
};

// Takes from `points`, which are taken to be between two nodes:
//   - topology.dimension[-1].latency_ns: the shortest latency of 8 bytes or, of a table without it, of fewer.
//     It is spread over the links of a path: two through the switch of kind SWITCH, else one. Nothing is
//     taken off for cards, drivers or MPI. Links of kind NETWORK have latencies of their own: not taken.
//   - transport.rate_share: the highest rate, as a share of what the library has of a device's card.
//     A rate above the card's is not taken.
// Points of no use give a line in `kept`. Without points nothing is said.
PointFit FitPoints(const proto::Cluster& cluster, const std::vector<PointRow>& points);

}  // namespace chakra
