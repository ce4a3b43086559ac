#include "backends/topology/routing/up_down.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace chakra {
namespace {

constexpr uint16_t kNoWay = 0xffff;
constexpr uint16_t kUpwards = 0x8000;
constexpr int kMostLinks = 0x7ffe;

// Whether all links that messages pass through join different tiers, and some tier is not 0.
bool TiersOrder(const NetworkGraph& g) {
  // A table, because finding the group of a vertex needs a search.
  std::vector<int> tier(g.vertices());
  for (const VertexGroup& group : g.groups()) {
    std::fill_n(tier.begin() + group.first, group.count, group.tier);
  }
  for (uint32_t v = 0; v < g.vertices(); ++v) {
    if (!g.Forwards(v)) continue;
    for (uint32_t arc = g.begin(v); arc < g.end(v); ++arc) {
      if (g.Forwards(g.target(arc)) && tier[v] == tier[g.target(arc)]) return false;
    }
  }
  return true;
}

}  // namespace

UpDown::UpDown(const NetworkGraph& graph, Order order, uint64_t budget)
    : graph_(&graph), by_tier_(order == Order::kAuto && TiersOrder(graph)), fields_(graph, budget) {}

void UpDown::SetAlive(const std::vector<bool>* alive) {
  fields_.SetAlive(alive);
  stale_ = stale_ || !by_tier_;
}

void UpDown::FindOrder() {
  const NetworkGraph& g = *graph_;
  const uint32_t first = g.devices_forward() ? 0 : g.devices();
  std::vector<int64_t> height(g.vertices());
  if (by_tier_) {
    for (const VertexGroup& group : g.groups()) {
      std::fill_n(height.begin() + group.first, group.count, group.tier);
    }
  } else {
    const std::vector<uint32_t> levels = Levels();
    for (uint32_t v = first; v < g.vertices(); ++v) height[v] = -int64_t{levels[fields_.Index(v)]};
  }
  sorted_.resize(fields_.size());
  std::iota(sorted_.begin(), sorted_.end(), first);
  std::stable_sort(sorted_.begin(), sorted_.end(),
                   [&](uint32_t a, uint32_t b) { return height[a] > height[b]; });
  place_.resize(sorted_.size());
  for (size_t i = 0; i < sorted_.size(); ++i) place_[fields_.Index(sorted_[i])] = static_cast<uint32_t>(i);
  stale_ = false;
}

// The number of links to the root, by Index().
std::vector<uint32_t> UpDown::Levels() const {
  const NetworkGraph& g = *graph_;
  std::vector<uint32_t> roots, level(fields_.size(), NetworkGraph::kNone), queue;
  for (const VertexGroup& group : g.groups()) {
    if (g.Forwards(group.first)) roots.push_back(static_cast<uint32_t>(&group - g.groups().data()));
  }
  std::stable_sort(roots.begin(), roots.end(),
                   [&](uint32_t a, uint32_t b) { return g.groups()[a].tier > g.groups()[b].tier; });
  for (const uint32_t r : roots) {
    const VertexGroup& group = g.groups()[r];
    for (uint32_t root = group.first; root < group.first + group.count; ++root) {
      if (level[fields_.Index(root)] != NetworkGraph::kNone) continue;
      level[fields_.Index(root)] = 0;
      queue.assign(1, root);
      for (size_t i = 0; i < queue.size(); ++i) {
        for (uint32_t arc = g.begin(queue[i]); arc < g.end(queue[i]); ++arc) {
          const uint32_t u = g.target(arc);
          if (!g.Forwards(u) || !fields_.Alive(arc) || !fields_.Alive(g.reverse(arc))) continue;
          if (level[fields_.Index(u)] != NetworkGraph::kNone) continue;
          level[fields_.Index(u)] = level[fields_.Index(queue[i])] + 1;
          queue.push_back(u);
        }
      }
    }
  }
  return level;
}

bool UpDown::Up(uint32_t arc) {
  if (stale_) FindOrder();
  return IsUp(arc);
}

bool UpDown::IsUp(uint32_t arc) const {
  const uint32_t a = graph_->source(arc), b = graph_->target(arc);
  const bool from = graph_->Forwards(a), to = graph_->Forwards(b);
  if (from && to) return place_[fields_.Index(b)] < place_[fields_.Index(a)];
  return from != to ? to : b < a;
}

void UpDown::Search(uint32_t to, std::vector<uint16_t>* field) {
  const NetworkGraph& g = *graph_;
  field->assign(fields_.size(), kNoWay);
  if (g.Forwards(to)) (*field)[fields_.Index(to)] = 0;
  queue_.assign(1, to);
  for (size_t i = 0; i < queue_.size(); ++i) {
    const uint32_t v = queue_[i];
    const int links = (v == to ? 0 : (*field)[fields_.Index(v)]) + 1;
    for (uint32_t arc = g.begin(v); arc < g.end(v); ++arc) {
      const uint32_t u = g.target(arc), in = g.reverse(arc);
      if (u == to || !g.Forwards(u) || !fields_.Alive(in) || IsUp(in)) continue;
      uint16_t& there = (*field)[fields_.Index(u)];
      if (there != kNoWay) continue;
      there = static_cast<uint16_t>(std::min(links, kMostLinks));
      queue_.push_back(u);
    }
  }
  // All other vertices go upwards first; values of upper vertices are computed before those of lower ones.
  for (const uint32_t v : sorted_) {
    uint16_t& here = (*field)[fields_.Index(v)];
    if (here != kNoWay) continue;
    for (uint32_t arc = g.begin(v); arc < g.end(v); ++arc) {
      const uint32_t u = g.target(arc);
      if (!g.Forwards(u) || !fields_.Alive(arc) || !IsUp(arc)) continue;
      const uint16_t above = (*field)[fields_.Index(u)];
      if (above == kNoWay) continue;
      const int links = std::min((above & ~kUpwards) + 1, kMostLinks);
      here = std::min(here, static_cast<uint16_t>(links | kUpwards));
    }
  }
}

const std::vector<uint16_t>& UpDown::FieldOf(uint32_t to) {
  if (stale_) FindOrder();
  return fields_.Of(to, [this](uint32_t home, std::vector<uint16_t>* field) { Search(home, field); });
}

UpDown::Way UpDown::From(const std::vector<uint16_t>& field, uint32_t v, uint32_t to) const {
  if (v == to) return {0, true};
  if (!graph_->Forwards(v)) return {};
  const uint16_t number = field[fields_.Index(v)];
  if (number == kNoWay) return {};
  return {number & ~kUpwards, (number & kUpwards) == 0};
}

// As From(), but also for a vertex that messages do not pass through.
UpDown::Way UpDown::Best(const std::vector<uint16_t>& field, uint32_t at, uint32_t to) const {
  if (at == to || graph_->Forwards(at)) return From(field, at, to);
  Way best;
  for (uint32_t arc = graph_->begin(at); arc < graph_->end(at); ++arc) {
    if (!fields_.Alive(arc)) continue;
    const Way way = From(field, graph_->target(arc), to);
    if (way.links < kUnreachable) best.links = std::min(best.links, way.links + 1);
  }
  return best;
}

int UpDown::Distance(uint32_t at, uint32_t to) { return Best(FieldOf(to), at, to).links; }

void UpDown::Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) {
  const std::vector<uint16_t>& field = FieldOf(to);
  const Way here = Best(field, at, to);
  if (here.links == 0 || here.links == kUnreachable) return;
  for (uint32_t arc = graph_->begin(at); arc < graph_->end(at); ++arc) {
    if (!fields_.Alive(arc)) continue;
    const Way way = From(field, graph_->target(arc), to);
    if (way.links != here.links - 1) continue;
    if (!graph_->Forwards(at) || IsUp(arc) != here.down) {
      if (!here.down || way.down) arcs->push_back(arc);
    }
  }
}

}  // namespace chakra
