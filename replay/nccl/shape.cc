#include <algorithm>

#include "replay/nccl/library.h"
#include "replay/nccl/rings.h"

namespace chakra {
namespace {

// Whether the path between members[i] and members[i + 1] always has the level that it would have in a product
// of blocks.
bool IsProduct(const MachineView& machine, const std::vector<int>& members, const GroupShape& shape) {
  for (size_t i = 0; i + 1 < members.size(); ++i) {
    size_t carry = i + 1;
    size_t block = 0;
    while (carry % static_cast<size_t>(shape.blocks[block]) == 0) {
      carry /= static_cast<size_t>(shape.blocks[block++]);
    }
    if (machine.Level(members[i], members[i + 1]) != shape.levels[block]) return false;
  }
  return true;
}

// Two members are on one node if the path between them is below the first level that is a network.
void CountNodes(const MachineView& machine, const LibraryModel& library, const std::vector<int>& members,
                GroupShape* shape) {
  int network = 0;
  while (network < static_cast<int>(library.levels.size()) &&
         library.levels[static_cast<size_t>(network)].link != LibraryLink::kNet) {
    ++network;
  }
  std::vector<std::pair<int, int>> nodes;  // a member of the node, and the number of its members
  size_t last = 0;
  for (const int member : members) {
    const auto here = [&](size_t i) {
      return nodes[i].first == member || machine.Level(nodes[i].first, member) < network;
    };
    if (last >= nodes.size() || !here(last)) {
      last = 0;
      while (last < nodes.size() && !here(last)) ++last;
    }
    if (last == nodes.size()) nodes.push_back({member, 0});
    ++nodes[last].second;
  }
  shape->uneven_nodes = static_cast<int>(nodes.size());
  shape->uneven_per_node = shape->ranks;
  for (const auto& node : nodes) shape->uneven_per_node = std::min(shape->uneven_per_node, node.second);
}

}  // namespace

GroupShape ShapeOf(const MachineView& machine, const LibraryModel* library, const std::vector<int>& members) {
  GroupShape shape;
  shape.ranks = static_cast<int>(members.size());
  std::vector<int> met;  // [level]: number of members whose path to the first member has this level
  int highest = 0;
  for (const int member : members) {
    if (member == members[0]) continue;
    const int level = machine.Level(members[0], member);
    if (static_cast<size_t>(level) >= met.size()) met.resize(static_cast<size_t>(level) + 1, 0);
    ++met[static_cast<size_t>(level)];
    highest = std::max(highest, level);
  }
  int below = 1;
  bool whole = true;
  for (size_t level = 0; level < met.size(); ++level) {
    if (met[level] == 0) continue;
    const int size = below + met[level];
    whole = whole && size % below == 0;
    shape.blocks.push_back(size / below);
    shape.levels.push_back(static_cast<int>(level));
    below = size;
  }
  if (shape.ranks > 1 && (!whole || !IsProduct(machine, members, shape))) {
    for (const int member : members) {
      for (size_t i = 0; i < 2; ++i) highest = std::max(highest, machine.Level(members[i], member));
    }
    shape.blocks = {shape.ranks};
    shape.levels = {highest};
    if (library != nullptr) CountNodes(machine, *library, members, &shape);
  }
  if (library != nullptr && !library->levels.empty() && library->levels[0].wired > 0 &&
      shape.levels == std::vector<int>{0}) {
    std::vector<int> positions;
    for (const int member : members) positions.push_back(machine.Coordinate(member, 0));
    shape.rings = RingsThatFit(library->levels[0].links, library->levels[0].wired, positions);
  }
  return shape;
}

}  // namespace chakra
