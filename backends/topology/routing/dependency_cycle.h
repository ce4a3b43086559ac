// Whether routes can wait for each other in a circle.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/topology/graph.h"

namespace chakra {

// The channel-dependency graph of routes (Dally & Seitz, IEEE Transactions on
// Computers 1987): a message that holds a channel may wait for the next of its
// route. Without a cycle no deadlock can arise; on a network that does not drop
// (credits, PFC), a cycle is one that may. A channel is an arc, or, with virtual
// channels, arc + arcs() * channel.
class ChannelDependencies {
 public:
  // Channels of one route, in order. Takes 8 bytes for each dependency that it
  // did not know, and for a time for those that it did.
  void Add(const std::vector<uint32_t>& route);

  // A cycle of channels, each waiting for the next and the last for the first;
  // empty: there is none. The same for the same set of routes, whatever their order.
  std::vector<uint32_t> FindCycle();

 private:
  void Compact();

  std::vector<std::pair<uint32_t, uint32_t>> edges_;  // the first compacted_ sorted, each once
  size_t compacted_ = 0;
};

// "leaf.0 - spine.1 > spine.1 - leaf.0"; a channel beyond the arcs with its
// number: "ring.3 - ring.0 (channel 1)".
std::string CycleText(const NetworkGraph& graph, const std::vector<uint32_t>& cycle);

}  // namespace chakra
