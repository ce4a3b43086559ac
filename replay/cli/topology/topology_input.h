// The input of `topology`.
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
  Network network;                            // the whole network as one graph
  std::vector<TopologyDimension> dimensions;  // of a cluster; else empty
  std::vector<std::string> notes;
};

// Loads `spec`: NAME or NAME:key=value,... of a network, the file of a network, or a cluster as in --cluster.
// `devices`: 0 for the number that the spec gives; a cluster that gives none has one block. Errors: `spec` is
// none of these, with the nearest name; and the errors of readers and builders.
absl::StatusOr<TopologyInput> LoadTopology(const std::string& spec, int devices);

// The input for a cluster in memory, with the title `title`.
absl::StatusOr<TopologyInput> TopologyOfCluster(const proto::Cluster& cluster, const std::string& title,
                                                int devices);

// Builds only the topology of a cluster.
absl::StatusOr<Topology> BuildClusterTopology(const proto::Cluster& cluster, int devices,
                                              std::vector<std::string>* notes);

}  // namespace chakra::cli
