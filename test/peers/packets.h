// Messages on a topology for fabric `packet` and for ns-3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/packet/options.h"
#include "backends/registry.h"
#include "backends/topology/graph.h"
#include "backends/topology/topology.h"
#include "test/peers/ns3.h"
#include "test/peers/sends.h"

namespace chakra::peers {

// A topology that is one graph, or one network by name.
absl::StatusOr<Topology> OneNetwork(absl::StatusOr<NetworkGraph> graph);
absl::StatusOr<Topology> OneNetwork(absl::string_view spec, int devices);

// Fabric `packet` with the peer's model: store and forward, queues without limit, `window` full packets in
// flight, an acknowledgement for each packet.
FabricOptions PeerOptions(uint32_t window);

// The same case for ns-3. Preconditions: `options` are from PeerOptions(), with any packet sizes; each of
// `sends` is sent once, and no device sends two, because a fabric's NIC serves its connections in turn.
Ns3Case Ns3CaseOf(const Topology& topology, const FabricOptions& options, const std::vector<Send>& sends);

struct PacketRun {
  std::string error;              // empty: none
  std::vector<int64_t> received;  // ps; -1: never
  uint64_t hops = 0;              // as Ns3Result::hops
  double seconds = 0;             // CPU time from the first start to the last event
};
// Precondition: `sends` are sorted by their starts.
PacketRun RunPacket(const Topology& topology, const FabricOptions& options, const std::vector<Send>& sends);

}  // namespace chakra::peers
