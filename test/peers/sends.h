// A list of messages on a topology, for both sides.
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
  int times = 1;  // sent so often, each time when it has been received
  int service_class = 0;
};

// Of links at 50 GB/s.
absl::StatusOr<Topology> OneDimension(TopologyDimension::Kind kind, int devices, Time latency);

// The topology's links and routes with the flows on them. Preconditions: `sends`
// are sorted by their starts; the routing splits no message.
PeerCase CaseOf(const Topology& topology, const RoutingOptions& routing, const std::vector<Send>& sends);

// When each was received the last time, in seconds, on fabric `fluid`; -1: never.
// `seconds`: CPU time from the first start to the last end.
std::vector<double> RunFluid(const Topology& topology, const FabricOptions& options,
                             const std::vector<Send>& sends, double* seconds);

}  // namespace chakra::peers
