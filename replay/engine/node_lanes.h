// Messages between nodes that all network cards of the nodes carry: a ring of a
// collective library is many rings, of which each leaves a node by another card.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/machine.h"

namespace chakra {

// The members of a group, by node. Each has a card of its own.
class NodeLanes {
 public:
  // Members are on one node when their path crosses only levels below `level`.
  NodeLanes(const MachineView& machine, const std::vector<int>& members, int level);

  // Cards that the nodes of two members, which are not the same, both have.
  int Cards(uint32_t a, uint32_t b) const {
    return static_cast<int>(std::min(nodes_[node_of_[a]].size(), nodes_[node_of_[b]].size()));
  }
  // Between whom lane `lane` (below Cards()) of a message from a to b goes: members with the same place in
  // their nodes, which are on one rail where there are rails.
  std::pair<int, int> Ends(uint32_t a, uint32_t b, int lane) const {
    const std::vector<int>&from = nodes_[node_of_[a]], &to = nodes_[node_of_[b]];
    const size_t place = place_[a] + static_cast<size_t>(lane);
    return {from[place % from.size()], to[place % to.size()]};
  }

 private:
  std::vector<std::vector<int>> nodes_;  // members as the fabric numbers them
  std::vector<uint32_t> node_of_;        // by member
  std::vector<uint32_t> place_;          // by member: where it is in its node
};

}  // namespace chakra
