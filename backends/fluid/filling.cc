#include "backends/fluid/filling.h"

namespace chakra {
namespace {

// Relative rounding error: the share of its capacity that a full link may have left.
constexpr double kRounding = 1e-13;
// If the weight falls below this share of the last sum, it is summed again.
constexpr double kLeft = 1e-3;

}  // namespace

void Filling::Clear() {
  links_.clear();
  flows_.clear();
  slots_.clear();
}

uint32_t Filling::AddLink(double left) {
  links_.push_back({left > 0 ? left : 0, left > 0 ? left : 0});
  return static_cast<uint32_t>(links_.size() - 1);
}

void Filling::AddFlow(double weight) {
  flows_.push_back({weight, -1, kNone, static_cast<uint32_t>(slots_.size())});
}

void Filling::On(uint32_t link, double share) {
  slots_.push_back({link, share});
  LinkState& l = links_[link];
  l.weight += flows_.back().weight * share;
  ++l.count;
}

inline void Filling::Stop(uint32_t flow, double level, uint32_t link) {
  FlowState& f = flows_[flow];
  f.level = level;
  f.holder = link;
  const size_t end = flow + 1 < flows_.size() ? flows_[flow + 1].first : slots_.size();
  for (size_t s = f.first; s < end; ++s) {
    LinkState& l = links_[slots_[s].link];
    const double weight = f.weight * slots_[s].share;
    l.left -= level * weight;
    if (l.left < l.scale * kRounding) l.left = 0;
    l.weight -= weight;
    --l.growing;
    if (level > l.top) l.top = level;
  }
}

// Sums again: after subtracting nearly everything from a sum, the rest is mostly rounding error.
void Filling::SumWeights(LinkState* link) {
  link->weight = 0;
  for (uint32_t i = link->first; i < link->first + link->count; ++i) {
    const FlowState& f = flows_[by_link_[i]];
    if (f.holder != kNone) continue;
    const size_t end = by_link_[i] + 1 < flows_.size() ? flows_[by_link_[i] + 1].first : slots_.size();
    for (size_t s = f.first; s < end; ++s) {
      if (slots_[s].link == static_cast<uint32_t>(link - links_.data()))
        link->weight += f.weight * slots_[s].share;
    }
  }
  link->summed = link->weight;
}

// The level at which a link is full only grows when flows stop. So an outdated entry comes too early, never
// too late, and is pushed again with the new level.
void Filling::Run() {
  uint32_t first = 0;
  for (LinkState& l : links_) {
    l.first = first;
    first += l.count;
    l.growing = 0;
    l.summed = l.weight;
  }
  by_link_.resize(slots_.size());
  for (size_t f = 0; f < flows_.size(); ++f) {
    const size_t end = f + 1 < flows_.size() ? flows_[f + 1].first : slots_.size();
    for (size_t s = flows_[f].first; s < end; ++s) {
      LinkState& l = links_[slots_[s].link];
      by_link_[l.first + l.growing++] = static_cast<uint32_t>(f);
    }
  }
  for (uint32_t i = 0; i < links_.size(); ++i) {
    if (links_[i].growing > 0) heap_.Push({links_[i].left / links_[i].weight, i});
  }
  while (!heap_.empty()) {
    const Full full = heap_.top();
    heap_.Pop();
    LinkState& l = links_[full.link];
    if (l.growing == 0) continue;
    if (l.weight < kLeft * l.summed) SumWeights(&l);
    const double level = l.left / l.weight;
    if (level > full.level && !heap_.empty() && heap_.top().level < level) {
      heap_.Push({level, full.link});
      continue;
    }
    l.stop = level;
    for (uint32_t i = l.first; i < l.first + l.count; ++i) {
      if (flows_[by_link_[i]].holder == kNone) Stop(by_link_[i], level, full.link);
    }
  }
}

}  // namespace chakra
