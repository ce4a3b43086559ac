#include "backends/packet/parts/deadlock.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"

namespace chakra::packet {

std::string FindDeadlock(const PacketNetwork& network, const PacketPool& pool, const PathTable& paths,
                         const std::vector<uint32_t>& ports, int classes) {
  // By port: the ports that wait for it, because the node at its other end holds packets from it in their
  // queues.
  std::map<uint32_t, std::set<uint32_t>> waits;
  for (const uint32_t i : ports) {
    if (network.port(i).waiting == 0) continue;
    for (uint32_t c = 0; c < static_cast<uint32_t>(classes); ++c) {
      for (uint32_t k = network.queue(i, c).head; k != kNoIndex; k = pool[k].next) {
        if (pool[k].hop > 0) waits[paths[pool[k].ports + pool[k].hop - 1]].insert(i);
      }
    }
  }
  // Follows these relations from each port until a port comes again.
  for (const auto& [start, next] : waits) {
    std::vector<uint32_t> way = {start};
    std::set<uint32_t> seen = {start};
    // Depth-first search over ports that are known to wait.
    std::vector<std::vector<uint32_t>> left = {{next.begin(), next.end()}};
    while (!way.empty()) {
      if (left.back().empty()) {
        way.pop_back();
        left.pop_back();
        continue;
      }
      const uint32_t to = left.back().back();
      left.back().pop_back();
      const auto on_way = std::find(way.begin(), way.end(), to);
      if (on_way != way.end()) {
        std::string cycle = "deadlock: ports wait for each other in a cycle:";
        for (auto it = on_way; it != way.end(); ++it) {
          absl::StrAppend(&cycle, it == on_way ? " " : " -> ", network.PortName(*it));
        }
        return absl::StrCat(cycle, " -> ", network.PortName(to));
      }
      const auto further = waits.find(to);
      if (further == waits.end() || !seen.insert(to).second) continue;
      way.push_back(to);
      left.push_back({further->second.begin(), further->second.end()});
    }
  }
  return "";
}

}  // namespace chakra::packet
