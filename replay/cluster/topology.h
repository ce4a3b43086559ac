// The topology of a cluster: from the proto to the input of fabrics.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/link_use.h"
#include "backends/topology/routing/router.h"
#include "backends/topology/size.h"
#include "backends/topology/topology.h"
#include "proto/cluster.pb.h"

namespace chakra {

struct BuiltTopology {
  Topology topology;
  RoutingOptions routing;
  std::vector<LinkChange> changes;  // faults, and losses that the file of a network contains
  std::vector<int> asked;          // by dimension: its index in the proto (a dimension with a single block is
                                   // left out)
  std::vector<int> made_networks;  // dimensions that became networks because faults name them
  std::vector<std::string> notes;  // from files of networks
};

// Builds the topology for `ranks` ranks; see BuildCluster() for dimensions of size 0. A network whose size is
// set by its parameters or its file may be larger than the ranks need. Dimensions of other kinds that faults
// name become networks. Reads the files that the topology names. Errors: as for BuildCluster().
absl::StatusOr<BuiltTopology> BuildTopology(const proto::Topology& topology, int ranks);

// The source of the port rates of a dimension: "cluster" (its own links, or its NICs), "network" or "file".
std::string RatesFrom(const proto::Dimension& dimension, const NetworkSize& built);

// Writes the topology that was built back to the proto's dimensions.
void RecordTopology(const BuiltTopology& built, proto::Topology* out);

// Errors: two ranks that cannot reach each other, because of the network, or because of links that go down
// and stay down. `device_of`: by rank; empty: rank r is on device r.
absl::Status CheckReachable(const BuiltTopology& built, const std::vector<int>& device_of, int ranks);

}  // namespace chakra
