#include "replay/engine/measure/least_of_repeats.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace chakra {

std::vector<Time> LeastOfRepeats(const RankTrace& trace) {
  const Graph& graph = *trace.graph;
  using Key = std::tuple<NodeType, uint8_t, uint32_t, int32_t, int32_t, uint64_t>;
  std::map<Key, Time> least;
  const auto each = [&](const auto& visit) {
    for (uint32_t row = 0; row < graph.size(); ++row) {
      if (graph.type[row] < NodeType::kSend) continue;
      const uint32_t at = graph.payload[row];
      const Comm& comm = graph.comm[at];
      const Peer& peer = trace.peers[at];
      const bool message = graph.type[row] != NodeType::kCollective;
      const Key key{graph.type[row], comm.type, peer.group, message ? peer.src : peer.root,
                    peer.dst,        comm.bytes};
      const Time transfer = graph.transfer_of(at);
      visit(at, key, transfer == Time::Never() ? graph.duration[row] : transfer);
    }
  };
  each([&](uint32_t, const Key& key, Time time) {
    if (time == Time::Zero()) return;
    const auto [it, added] = least.emplace(key, time);
    if (!added) it->second = std::min(it->second, time);
  });
  std::vector<Time> times(graph.comm.size());
  each([&](uint32_t at, const Key& key, Time time) {
    if (time > Time::Zero()) times[at] = least.at(key);
  });
  return times;
}

}  // namespace chakra
