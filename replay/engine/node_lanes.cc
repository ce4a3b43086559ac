#include "replay/engine/node_lanes.h"

namespace chakra {

NodeLanes::NodeLanes(const MachineView& machine, const std::vector<int>& members, int level) {
  uint32_t last = 0;  // members of a node mostly follow each other
  for (const int member : members) {
    const auto on = [&](uint32_t node) {
      const int first = nodes_[node].front();
      return first == member || machine.Level(first, member) < level;
    };
    if (nodes_.empty() || !on(last)) {
      last = 0;
      while (last < nodes_.size() && !on(last)) ++last;
      if (last == nodes_.size()) nodes_.emplace_back();
    }
    node_of_.push_back(last);
    place_.push_back(static_cast<uint32_t>(nodes_[last].size()));
    nodes_[last].push_back(member);
  }
}

}  // namespace chakra
