// PacketSim: where ways part (spread=adaptive).
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "backends/packet/sim/sim.h"

namespace chakra::packet {

// Of the ways of a pair that are the same up to a hop: for each one and hop, the next one that goes on over
// another port, in a circle. PacketTables::paths has them for each way as triples of its first port, its
// number and its hops, one for each hop; the entry before its ports says where.
template <typename Events>
void PacketSim<Events>::LinkAlternatives(uint32_t first_way) {
  const auto count = static_cast<uint32_t>(options_.paths);
  size_t room = 0;
  uint32_t longest = 0;
  for (uint32_t w = 0; w < count; ++w) {
    const Way& way = ways_[first_way + w];
    if (!way.found) continue;
    room += PacketTables::kAlternative * way.hops;
    longest = std::max<uint32_t>(longest, way.hops);
  }
  MakeRoom(room);
  std::vector<uint32_t>& paths = this->paths;
  for (uint32_t w = 0; w < count; ++w) {
    const Way& way = ways_[first_way + w];
    if (!way.found) continue;
    paths[way.ports - 1] = static_cast<uint32_t>(paths.size());
    paths.resize(paths.size() + PacketTables::kAlternative * way.hops);
  }
  std::vector<uint32_t> group(count, 0);  // of the ways that are the same so far
  for (uint32_t hop = 0; hop < longest; ++hop) {
    // By group and port: the first way there; in the order of the ways.
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> number;
    std::map<uint32_t, std::vector<uint32_t>> ports;  // of a group: numbers, one for each port
    std::vector<uint32_t> first, place(count, kNoIndex);
    for (uint32_t w = 0; w < count; ++w) {
      const Way& way = ways_[first_way + w];
      if (!way.found || hop >= way.hops) continue;
      const auto [it, is_new] =
          number.try_emplace({group[w], paths[way.ports + hop]}, static_cast<uint32_t>(first.size()));
      if (is_new) {
        ports[group[w]].push_back(it->second);
        first.push_back(w);
      }
      place[w] = it->second;
    }
    for (uint32_t w = 0; w < count; ++w) {
      if (place[w] == kNoIndex) continue;
      const std::vector<uint32_t>& circle = ports[group[w]];
      const auto at = std::find(circle.begin(), circle.end(), place[w]);
      const uint32_t next = first[at + 1 == circle.end() ? circle.front() : *(at + 1)];
      const Way& to = ways_[first_way + next];
      uint32_t* entry = &paths[paths[ways_[first_way + w].ports - 1] + PacketTables::kAlternative * hop];
      entry[0] = to.ports;
      entry[1] = next;
      entry[2] = to.hops;
    }
    for (uint32_t w = 0; w < count; ++w) group[w] = place[w];
  }
}

template class PacketSim<HeapEvents>;
template class PacketSim<BucketEvents>;

}  // namespace chakra::packet
