// What `topology` is told to look at.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/topology/network.h"
#include "backends/topology/topology.h"
#include "proto/cluster.pb.h"

namespace chakra::cli {

struct TopologyInput {
  std::string title;                          // as given
  Network network;                            // all of it, as one graph
  std::vector<TopologyDimension> dimensions;  // of a cluster; else empty
  std::vector<std::string> notes;
};

// `spec`: NAME or NAME:key=value,... of a network, a file of a network, or a
// cluster as --cluster takes it. `devices`: 0 for as many as it says; of a
// cluster that is open, one block. Errors: none of these, with the nearest
// name; and what the readers and builders find.
absl::StatusOr<TopologyInput> LoadTopology(const std::string& spec, int devices);

// The same of a cluster in memory, called `title`.
absl::StatusOr<TopologyInput> TopologyOfCluster(const proto::Cluster& cluster, const std::string& title,
                                                int devices);

// The topology of LoadTopology alone, of a cluster.
absl::StatusOr<Topology> BuildClusterTopology(const proto::Cluster& cluster, int devices,
                                              std::vector<std::string>* notes);

}  // namespace chakra::cli
