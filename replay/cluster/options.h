// Short forms of the command line for the topology of a cluster.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/cluster.pb.h"

namespace chakra {

struct TopologyOptions {
  std::string network;              // what joins the nodes; see ReplaceNetwork()
  std::string routing;              // "POLICY" or "POLICY:key=value,..."; see SetRouting()
  std::vector<std::string> faults;  // see AddFault()
  std::string packet;               // "key=value,..."; see SetPacket()
  std::vector<std::string> mixed;   // see AddPacketChoice()
  std::vector<std::string> set;  // "FIELD=VALUE" of proto::Cluster, after all others; see SetFieldFromText()
};

// All of them, over what the cluster says. `notes` gets a line for what else changes.
absl::Status ApplyTopologyOptions(const TopologyOptions& options, proto::Cluster* cluster,
                                  std::vector<std::string>* notes);

// Puts a network in place of the last dimension, whose bandwidth and latency are then the cards of its
// devices. `spec` is "NAME:key=value,..." or a file of a network, "FILE:span=rails" with a key. The key
// `span` of both says what the network joins: "all", all devices; "rails", those at one place of their
// blocks, each such place by a network of its own; "machine", all devices, and it takes the place of all
// dimensions. The last is the default of NetworkKind::whole and of a file whose devices pass messages on; the
// collective library, which knows the dimensions, is then left out. A file that has NVSwitches gives the
// first dimension their size and rates.
absl::Status ReplaceNetwork(const std::string& spec, proto::Cluster* cluster,
                            std::vector<std::string>* notes);

// The keys of proto::Routing; what is not given gets its default, but for files of routes: `routes` is one
// more, of the last network.
absl::Status SetRouting(const std::string& spec, proto::Topology* topology);

}  // namespace chakra
