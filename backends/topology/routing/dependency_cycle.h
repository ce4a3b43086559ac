// Detects whether routes can wait for each other in a cycle.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/topology/graph.h"

namespace chakra {

// The channel-dependency graph of routes (Dally & Seitz, IEEE Transactions on Computers 1987): a message that
// holds a channel may wait for the next channel of its route. Without a cycle there is no deadlock; with a
// cycle, a network that does not drop packets (credits, PFC) may deadlock. A channel is an arc, or, with
// virtual channels, arc + arcs() * channel.
class ChannelDependencies {
 public:
  // Adds the channels of a route, in order. Needs 8 bytes for each new dependency and, temporarily, for each
  // known one.
  void Add(const std::vector<uint32_t>& route);

  // A cycle of channels in which each waits for the next and the last for the first; empty: no cycle. The
  // result does not depend on the order of Add().
  std::vector<uint32_t> FindCycle();

 private:
  void Compact();

  std::vector<std::pair<uint32_t, uint32_t>> edges_;  // the first compacted_ sorted, each once
  size_t compacted_ = 0;
};

// "leaf.0 - spine.1 > spine.1 - leaf.0"; a channel beyond the arcs has its number: "ring.3 - ring.0 (channel
// 1)".
std::string CycleText(const NetworkGraph& graph, const std::vector<uint32_t>& cycle);

}  // namespace chakra
