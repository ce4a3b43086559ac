#include "backends/topology/routing/dependency_cycle.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace chakra {

void ChannelDependencies::Add(const std::vector<uint32_t>& route) {
  for (size_t i = 0; i + 1 < route.size(); ++i) edges_.emplace_back(route[i], route[i + 1]);
  if (edges_.size() > 2 * compacted_ + 65536) Compact();
}

void ChannelDependencies::Compact() {
  const auto middle = edges_.begin() + static_cast<std::ptrdiff_t>(compacted_);
  std::sort(middle, edges_.end());
  std::inplace_merge(edges_.begin(), middle, edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  compacted_ = edges_.size();
}

// A depth-first search; the stack is the path from the root of the search.
std::vector<uint32_t> ChannelDependencies::FindCycle() {
  Compact();
  std::vector<uint32_t> channels;
  for (const auto& [from, to] : edges_) {
    if (channels.empty() || channels.back() != from) channels.push_back(from);
  }
  const auto index = [&](uint32_t channel) {
    const auto it = std::lower_bound(channels.begin(), channels.end(), channel);
    return it != channels.end() && *it == channel ? static_cast<size_t>(it - channels.begin())
                                                  : channels.size();
  };
  std::vector<size_t> next(channels.size() + 1, edges_.size());  // the edge to look at next
  for (size_t e = edges_.size(); e-- > 0;) next[index(edges_[e].first)] = e;
  const std::vector<size_t> first = next;
  std::vector<bool> on_path(channels.size()), done(channels.size());
  std::vector<size_t> path;
  for (size_t root = 0; root < channels.size(); ++root) {
    if (done[root]) continue;
    path.assign(1, root);
    on_path[root] = true;
    while (!path.empty()) {
      const size_t c = path.back();
      if (next[c] == first[c + 1]) {
        on_path[c] = false;
        done[c] = true;
        path.pop_back();
        continue;
      }
      const size_t to = index(edges_[next[c]++].second);
      if (to == channels.size() || done[to]) continue;  // a channel that waits for nothing is on no cycle
      if (on_path[to]) {
        std::vector<uint32_t> cycle;
        for (auto it = std::find(path.begin(), path.end(), to); it != path.end(); ++it) {
          cycle.push_back(channels[*it]);
        }
        return cycle;
      }
      on_path[to] = true;
      path.push_back(to);
    }
  }
  return {};
}

std::string CycleText(const NetworkGraph& graph, const std::vector<uint32_t>& cycle) {
  std::string text;
  for (const uint32_t channel : cycle) {
    absl::StrAppend(&text, text.empty() ? "" : " > ", graph.ArcName(channel % graph.arcs()));
    if (channel >= graph.arcs()) absl::StrAppend(&text, " (channel ", channel / graph.arcs(), ")");
  }
  return text;
}

}  // namespace chakra
