// Fits a cluster's network to messages between two devices (perftest, osu_latency, osu_bw).
#pragma once

#include <string>
#include <vector>

#include "proto/cluster.pb.h"
#include "replay/calibrate/micro_benchmarks.h"

namespace chakra {

struct PointFit {
  proto::Cluster cluster;
  // A line for each fitted field: old and new value, the row that determines it, and what is assumed.
  std::vector<std::string> fitted;
  std::vector<std::string> kept;  // a line for each field that stays, with the reason
};

// Fits these fields to `points`, which are assumed to be between two nodes:
//   - topology.dimension[-1].latency_ns: the shortest latency of 8 bytes, or of fewer if a table has no row
//     of 8. It is divided among the links of a path: two through the switch of kind SWITCH, else one. Nothing
//     is subtracted for NICs, drivers or MPI. Not fitted for kind NETWORK, whose links have their own
//     latencies.
//   - transport.rate_share: the highest rate, as a share of the rate that the library assumes for a device's
//     NIC. A rate above the NIC's is not used.
// Each field that the points do not determine gives a line in `kept`. Without points, nothing is listed.
PointFit FitPoints(const proto::Cluster& cluster, const std::vector<PointRow>& points);

}  // namespace chakra
