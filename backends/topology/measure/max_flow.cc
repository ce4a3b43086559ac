#include "backends/topology/measure/max_flow.h"

#include <algorithm>

namespace chakra {

void MaxFlow::AddEdge(uint32_t a, uint32_t b, int64_t capacity) {
  const auto e = static_cast<uint32_t>(edges_.size());
  edges_.push_back({b, head_[a], capacity});
  edges_.push_back({a, head_[b], capacity});
  head_[a] = e;
  head_[b] = e + 1;
}

// Computes distances from the source over edges with capacity left.
bool MaxFlow::Levels() {
  level_.assign(head_.size(), -1);
  queue_.assign(1, source_);
  level_[source_] = 0;
  for (size_t i = 0; i < queue_.size() && level_[sink_] < 0; ++i) {
    const uint32_t v = queue_[i];
    for (uint32_t e = head_[v]; e != kNone; e = edges_[e].next) {
      ++looked_;
      if (edges_[e].left == 0 || level_[edges_[e].to] >= 0) continue;
      level_[edges_[e].to] = level_[v] + 1;
      queue_.push_back(edges_[e].to);
    }
  }
  return level_[sink_] >= 0;
}

// Sends as much as one shortest path can carry; 0: no path is left.
int64_t MaxFlow::Augment() {
  path_.clear();
  uint32_t v = source_;
  while (v != sink_) {
    uint32_t& e = at_[v];
    while (e != kNone && (edges_[e].left == 0 || level_[edges_[e].to] != level_[v] + 1)) {
      ++looked_;
      e = edges_[e].next;
    }
    if (e != kNone) {
      path_.push_back(e);
      v = edges_[e].to;
      continue;
    }
    if (path_.empty()) return 0;
    level_[v] = -1;  // a dead end
    v = edges_[path_.back() ^ 1].to;
    path_.pop_back();
  }
  int64_t sent = edges_[path_[0]].left;
  for (const uint32_t e : path_) sent = std::min(sent, edges_[e].left);
  for (const uint32_t e : path_) {
    edges_[e].left -= sent;
    edges_[e ^ 1].left += sent;
  }
  looked_ += path_.size();
  return sent;
}

std::optional<int64_t> MaxFlow::Run(uint32_t source, uint32_t sink, uint64_t budget) {
  source_ = source;
  sink_ = sink;
  int64_t flow = 0;
  while (Levels()) {
    at_ = head_;
    while (const int64_t sent = Augment()) {
      flow += sent;
      if (looked_ > budget) return std::nullopt;
    }
    if (looked_ > budget) return std::nullopt;
  }
  return flow;
}

}  // namespace chakra
