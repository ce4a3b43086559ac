// The topology of a cluster: from the proto to what fabrics take.
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
  std::vector<LinkChange> changes;  // faults, and losses that a file of a network tells of
  std::vector<int> asked;          // by dimension: its place in the proto (one of a single block is left out)
  std::vector<int> made_networks;  // dimensions that became networks, since faults name them
  std::vector<std::string> notes;  // of files of networks
};

// For `ranks` ranks; see BuildCluster() on dimensions of size 0. A network to
// which its parameters or its file give a size may be larger than the ranks
// need. Dimensions of other kinds that faults name become networks. Reads the files that it names. Errors:
// as BuildCluster().
absl::StatusOr<BuiltTopology> BuildTopology(const proto::Topology& topology, int ranks);

// Who says what the ports of a dimension carry: "cluster" (its own links, or its cards), "network" or "file".
std::string RatesFrom(const proto::Dimension& dimension, const NetworkSize& built);

// What was built, back in the proto's dimensions.
void RecordTopology(const BuiltTopology& built, proto::Topology* out);

// Errors: two ranks that cannot reach each other, because of the network, or of
// links that go down and stay so. `device_of`: by rank; empty: its own number.
absl::Status CheckReachable(const BuiltTopology& built, const std::vector<int>& device_of, int ranks);

}  // namespace chakra
