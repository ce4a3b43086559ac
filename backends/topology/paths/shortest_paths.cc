#include "backends/topology/paths/shortest_paths.h"

#include <algorithm>

namespace chakra {

void ShortestPaths::Search(uint32_t to, std::vector<uint16_t>* distance) {
  const NetworkGraph& g = *graph_;
  distance->assign(fields_.size(), kUnreachable);
  if (g.Forwards(to)) (*distance)[fields_.Index(to)] = 0;
  queue_.assign(1, to);
  for (size_t i = 0; i < queue_.size(); ++i) {
    const uint32_t v = queue_[i];
    const int next = (v == to ? 0 : (*distance)[fields_.Index(v)]) + 1;
    for (uint32_t arc = g.begin(v); arc < g.end(v); ++arc) {
      const uint32_t u = g.target(arc);
      if (u == to || !g.Forwards(u) || !fields_.Alive(g.reverse(arc))) continue;
      uint16_t& d = (*distance)[fields_.Index(u)];
      if (d != kUnreachable) continue;
      d = static_cast<uint16_t>(std::min(next, kUnreachable - 1));
      queue_.push_back(u);
    }
  }
}

const std::vector<uint16_t>& ShortestPaths::FieldOf(uint32_t to) {
  return fields_.Of(to, [this](uint32_t home, std::vector<uint16_t>* distance) { Search(home, distance); });
}

// The number of links from `v` to `to` over vertices that messages pass through.
int ShortestPaths::At(const std::vector<uint16_t>& field, uint32_t v, uint32_t to) const {
  if (v == to) return 0;
  if (graph_->Forwards(v)) return field[fields_.Index(v)];
  return kUnreachable;
}

int ShortestPaths::Distance(uint32_t at, uint32_t to) {
  if (at == to) return 0;
  const std::vector<uint16_t>& field = FieldOf(to);
  if (graph_->Forwards(at)) return field[fields_.Index(at)];
  int least = kUnreachable;
  for (uint32_t arc = graph_->begin(at); arc < graph_->end(at); ++arc) {
    if (!fields_.Alive(arc)) continue;
    const int d = At(field, graph_->target(arc), to);
    if (d < kUnreachable) least = std::min(least, d + 1);
  }
  return least;
}

void ShortestPaths::Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) {
  const int here = Distance(at, to);
  if (here == 0 || here == kUnreachable) return;
  const std::vector<uint16_t>& field = FieldOf(to);
  for (uint32_t arc = graph_->begin(at); arc < graph_->end(at); ++arc) {
    if (fields_.Alive(arc) && At(field, graph_->target(arc), to) == here - 1) arcs->push_back(arc);
  }
}

}  // namespace chakra
