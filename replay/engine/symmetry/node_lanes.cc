#include "replay/engine/symmetry/node_lanes.h"

#include "absl/container/flat_hash_map.h"

namespace chakra {
namespace {

// The number of the node of `member`; equal only for members on the same node.
uint64_t NodeOf(const MachineView& machine, int member, int level) {
  const auto& dimensions = machine.topology().dimensions();
  if (level <= 0) return static_cast<uint64_t>(member);
  uint64_t node = 0;
  for (size_t d = static_cast<size_t>(level); d < dimensions.size(); ++d) {
    node = node * static_cast<uint64_t>(dimensions[d].size) +
           static_cast<uint64_t>(machine.Coordinate(member, static_cast<int>(d)));
  }
  return node;
}

}  // namespace

NodeLanes::NodeLanes(const MachineView& machine, const std::vector<int>& members, int level) {
  absl::flat_hash_map<uint64_t, uint32_t> nodes;
  for (const int member : members) {
    const auto [node, is_new] =
        nodes.try_emplace(NodeOf(machine, member, level), static_cast<uint32_t>(nodes_.size()));
    if (is_new) nodes_.emplace_back();
    node_of_.push_back(node->second);
    place_.push_back(static_cast<uint32_t>(nodes_[node->second].size()));
    nodes_[node->second].push_back(member);
  }
}

}  // namespace chakra
