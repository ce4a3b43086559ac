// A list of messages on a topology, for the fabric and for its peer.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/registry.h"
#include "backends/topology/topology.h"
#include "test/peers/simgrid.h"

namespace chakra::peers {

struct Send {
  int src, dst;    // different devices
  uint64_t bytes;  // > 0
  Time start;
  int times = 1;  // number of sends, each after the previous was received
  int service_class = 0;
};

// A topology of one dimension, with links at 50 GB/s.
absl::StatusOr<Topology> OneDimension(TopologyDimension::Kind kind, int devices, Time latency);

// The topology's links and routes with the flows on them. Preconditions: `sends` are sorted by their starts;
// the routing splits no message.
PeerCase CaseOf(const Topology& topology, const RoutingOptions& routing, const std::vector<Send>& sends);

// When each message was received the last time on fabric `fluid`, in seconds; -1: never. `seconds` gets the
// CPU time from the first start to the last end.
std::vector<double> RunFluid(const Topology& topology, const FabricOptions& options,
                             const std::vector<Send>& sends, double* seconds);

}  // namespace chakra::peers
