// Spreads messages between nodes over all NICs of the nodes: a ring of a collective library consists of many
// rings, each of which leaves a node through a different NIC.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/machine.h"

namespace chakra {

// The members of a group, by node. Each member has its own NIC.
class NodeLanes {
 public:
  // Members are on one node if their path crosses only levels below `level`.
  NodeLanes(const MachineView& machine, const std::vector<int>& members, int level);

  // The number of NICs that both nodes of two members have. Precondition: the nodes differ.
  int Cards(uint32_t a, uint32_t b) const {
    return static_cast<int>(std::min(nodes_[node_of_[a]].size(), nodes_[node_of_[b]].size()));
  }
  // The end points of lane `lane` (below Cards()) of a message from a to b: members with the same place in
  // their nodes, and therefore on one rail, if the machine has rails.
  std::pair<int, int> Ends(uint32_t a, uint32_t b, int lane) const {
    const std::vector<int>&from = nodes_[node_of_[a]], &to = nodes_[node_of_[b]];
    const size_t place = place_[a] + static_cast<size_t>(lane);
    return {from[place % from.size()], to[place % to.size()]};
  }
  // The number of members of each node; 0: nodes have different numbers of members.
  int PerNode() const {
    const size_t n = nodes_[0].size();
    for (const std::vector<int>& node : nodes_) {
      if (node.size() != n) return 0;
    }
    return static_cast<int>(n);
  }
  // The end points of the part of a message from a to b that uses rail `rail`, below PerNode().
  std::pair<int, int> OnRail(uint32_t a, uint32_t b, int rail) const {
    return {nodes_[node_of_[a]][static_cast<size_t>(rail)], nodes_[node_of_[b]][static_cast<size_t>(rail)]};
  }

 private:
  std::vector<std::vector<int>> nodes_;  // by node: the fabric's numbers of its members
  std::vector<uint32_t> node_of_;        // by member
  std::vector<uint32_t> place_;          // by member: its place in its node
};

}  // namespace chakra
