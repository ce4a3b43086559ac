// Applies short forms of the command line to the topology of a cluster.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/cluster.pb.h"

namespace chakra {

struct TopologyOptions {
  std::string network;              // the network that connects the nodes; see ReplaceNetwork()
  std::string routing;              // "POLICY" or "POLICY:key=value,..."; see SetRouting()
  std::vector<std::string> faults;  // see AddFault()
  std::string packet;               // "key=value,..."; see SetPacket()
  std::vector<std::string> mixed;   // see AddPacketChoice()
  std::vector<std::string> set;     // "FIELD=VALUE" of proto::Cluster, after all other options; see
                                    // SetFieldFromText()
};

// Applies all options to the cluster. `notes` gets a line for each other change that this causes.
absl::Status ApplyTopologyOptions(const TopologyOptions& options, proto::Cluster* cluster,
                                  std::vector<std::string>* notes);

// Replaces the last dimension by a network. The dimension's bandwidth and latency become those of the NICs of
// the devices. `spec` is "NAME:key=value,...", or a file of a network, optionally followed by a key:
// "FILE:span=rails". In both cases the key `span` sets what the network connects:
//   - "all": all devices
//   - "rails": the devices at one place of their blocks, with a separate network for each place
//   - "machine": all devices, and the network replaces all dimensions
// "machine" is the default of NetworkKind::whole and of a file whose devices pass messages on. The collective
// library is then removed, because it depends on the dimensions. A file that has NVSwitches sets the size and
// the rates of the first dimension to theirs.
absl::Status ReplaceNetwork(const std::string& spec, proto::Cluster* cluster,
                            std::vector<std::string>* notes);

// Sets the fields of proto::Routing from a short form. Fields that are not given get their defaults, except
// files of routes: `routes` adds a file, for the last network.
absl::Status SetRouting(const std::string& spec, proto::Topology* topology);

}  // namespace chakra
