#include "backends/fluid/levels.h"

#include <algorithm>
#include <cmath>

namespace chakra {
namespace {

constexpr double kOverfill = 1e-12;     // share of its capacity by which rounding may overfill a link
constexpr double kEqualLevels = 4e-12;  // relative difference of levels that count as equal
constexpr double kSumError = 2e-15;     // rounding error of a sum, as a share of the link's capacity
constexpr double kRest = 1e-3;          // below this share of the last sum, weights are summed again
constexpr int kRounds = 8;       // rounds in which a link only takes over the flows with the highest level
constexpr size_t kMarks = 16;    // a sweep marks links for at most 1/16 as many flows as there are links
constexpr size_t kSweeps = 160;  // maximum number of sums for each link; more would cost as much as a refill

}  // namespace

uint32_t FluidLevels::AddLink(double capacity) {
  links_.emplace_back();
  links_.back().capacity = capacity;
  level_.push_back(kNoLevel);
  seen_.push_back(0);
  marked_.push_back(0);
  return static_cast<uint32_t>(links_.size() - 1);
}

void FluidLevels::MarkDirty(uint32_t link) {
  if (links_[link].dirty) return;
  links_[link].dirty = true;
  dirty_.push_back(link);
}

void FluidLevels::MarkChanged(uint32_t link) {
  if (links_[link].changed) return;
  links_[link].changed = true;
  changed_.push_back(link);
}

void FluidLevels::AddHeld(uint32_t slot) {
  Link& link = links_[slots_[slot].link];
  slots_[slot].place = static_cast<uint32_t>(link.held.size());
  link.held.push_back(slot);
  link.weight += slots_[slot].weight;
  link.summed = std::max(link.summed, link.weight);
}

void FluidLevels::RemoveHeld(uint32_t slot) {
  Link& link = links_[slots_[slot].link];
  const uint32_t last = link.held.back();
  link.held[slots_[slot].place] = last;
  slots_[last].place = slots_[slot].place;
  link.held.pop_back();
  link.weight -= slots_[slot].weight;
  if (!weighed_) return;  // whole numbers are exact
  if (link.held.empty()) {
    link.weight = link.summed = 0;
  } else if (link.weight < kRest * link.summed) {
    link.weight = 0;
    for (const uint32_t s : link.held) link.weight += slots_[s].weight;
    link.summed = link.weight;
  }
}

void FluidLevels::AddOther(uint32_t slot, uint32_t holder) {
  Link& link = links_[slots_[slot].link];
  slots_[slot].place = static_cast<uint32_t>(link.others.size());
  link.others.push_back(slot);
  link.holders.push_back(holder);
  if (weighed_) link.weights.push_back(slots_[slot].weight);
}

void FluidLevels::RemoveOther(uint32_t slot) {
  Link& link = links_[slots_[slot].link];
  const uint32_t place = slots_[slot].place;
  const uint32_t last = link.others.back();
  link.others[place] = last;
  link.holders[place] = link.holders.back();
  slots_[last].place = place;
  link.others.pop_back();
  link.holders.pop_back();
  if (!weighed_) return;
  link.weights[place] = link.weights.back();
  link.weights.pop_back();
}

void FluidLevels::WeighAll() {
  weighed_ = true;
  for (Link& link : links_) link.weights.assign(link.others.size(), 1);
}

uint32_t FluidLevels::AddFlow(const std::vector<FluidHop>& hops, double weight) {
  uint32_t id;
  if (free_flows_.empty()) {
    id = static_cast<uint32_t>(flows_.size());
    flows_.emplace_back();
  } else {
    id = free_flows_.back();
    free_flows_.pop_back();
  }
  FlowRecord& f = flows_[id];
  f = FlowRecord();
  f.weight = weight;
  f.count = static_cast<uint32_t>(hops.size());
  if (f.count < free_slots_.size() && !free_slots_[f.count].empty()) {
    f.first = free_slots_[f.count].back();
    free_slots_[f.count].pop_back();
  } else {
    f.first = static_cast<uint32_t>(slots_.size());
    slots_.resize(slots_.size() + f.count);
  }
  double least = kNoLevel, guess = kNoLevel;
  for (uint32_t i = 0; i < f.count; ++i) {
    const uint32_t l = hops[i].link;
    const double w = weight * hops[i].share;
    if (w != 1 && !weighed_) WeighAll();
    slots_[f.first + i] = {w, id, l, 0};
    const double most = links_[l].capacity / w, level = std::min(level_[l], most);
    if (f.holder == kNone || level < least) {
      f.holder = l;
      least = level;
      guess = most;
    }
    if (links_[l].place == kNone) {
      links_[l].place = static_cast<uint32_t>(order_.size());
      order_.push_back(l);
    }
    MarkDirty(l);
  }
  // A first guess of the level, which must not be too low.
  Link& holder = links_[f.holder];
  if (level_[f.holder] == kNoLevel || holder.guessed) {
    level_[f.holder] = holder.guessed ? std::max(level_[f.holder], guess) : guess;
    holder.guessed = true;
    Place(holder.place);
  }
  for (uint32_t s = f.first; s < f.first + f.count; ++s) {
    if (slots_[s].link == f.holder) {
      AddHeld(s);
    } else {
      AddOther(s, f.holder);
    }
  }
  f.moved = static_cast<uint32_t>(moving_.size());
  moving_.push_back({id, kNone});
  ++fresh_;
  return id;
}

void FluidLevels::RemoveFlow(uint32_t flow) {
  FlowRecord& f = flows_[flow];
  for (uint32_t s = f.first; s < f.first + f.count; ++s) {
    MarkDirty(slots_[s].link);
    if (slots_[s].link == f.holder) {
      RemoveHeld(s);
    } else {
      RemoveOther(s);
    }
  }
  // The flow was added and removed between two solutions.
  if (f.moved != kNone) moving_[f.moved].flow = kNone;
  if (free_slots_.size() <= f.count) free_slots_.resize(f.count + 1);
  free_slots_[f.count].push_back(f.first);
  f.count = 0;
  free_flows_.push_back(flow);
}

void FluidLevels::Move(uint32_t flow, uint32_t to) {
  FlowRecord& f = flows_[flow];
  if (f.moved == kNone) {
    f.moved = static_cast<uint32_t>(moving_.size());
    moving_.push_back({flow, f.holder});
  }
  for (uint32_t s = f.first; s < f.first + f.count; ++s) {
    const uint32_t link = slots_[s].link;
    if (link == f.holder) {
      RemoveHeld(s);
      AddOther(s, to);
    } else if (link == to) {
      RemoveOther(s);
      AddHeld(s);
    } else {
      links_[link].holders[slots_[s].place] = to;
    }
  }
  f.holder = to;
}

// The hot loop. It has four independent sums, because each addition must wait for the previous one.
FluidLevels::Sums FluidLevels::SumOthers(const Link& link) const {
  const size_t n = link.holders.size();
  const uint32_t* holders = link.holders.data();
  const double* level = level_.data();
  double used[4] = {}, top[4] = {};
  const auto most = [](double a, double b) { return a > b ? a : b; };
  size_t i = 0;
  if (weighed_) {
    const double* weights = link.weights.data();
    for (; i < n; ++i) {
      const double x = level[holders[i]];
      used[i % 4] += x * weights[i];
      top[0] = most(x, top[0]);
    }
  }
  for (; i + 4 <= n; i += 4) {
    const double a = level[holders[i]], b = level[holders[i + 1]];
    const double c = level[holders[i + 2]], d = level[holders[i + 3]];
    used[0] += a;
    used[1] += b;
    used[2] += c;
    used[3] += d;
    top[0] = most(a, top[0]);
    top[1] = most(b, top[1]);
    top[2] = most(c, top[2]);
    top[3] = most(d, top[3]);
  }
  for (; i < n; ++i) {
    used[0] += level[holders[i]];
    top[0] = most(level[holders[i]], top[0]);
  }
  return {(used[0] + used[1]) + (used[2] + used[3]), most(most(top[0], top[1]), most(top[2], top[3]))};
}

// Takes over the flows of other holders whose level is at least `level`.
void FluidLevels::TakeAbove(uint32_t link, double level) {
  for (size_t i = links_[link].holders.size(); i-- > 0;) {
    const uint32_t from = links_[link].holders[i];
    if (level_[from] < level) continue;
    const uint32_t flow = slots_[links_[link].others[i]].flow;
    taken_.push_back({flow, from});
    Move(flow, link);
  }
}

// Gives back those of the taken flows whose previous holders have a lower level after all.
bool FluidLevels::GiveBack(double level) {
  const size_t before = taken_.size();
  size_t kept = 0;
  for (const Taken& t : taken_) {
    if (level_[t.from] < level * (1 - kEqualLevels)) {
      Move(t.flow, t.from);
    } else {
      taken_[kept++] = t;
    }
  }
  taken_.resize(kept);
  return kept < before;
}

// Finds the level x with: sum of weight * min(x, level of the other holder) = capacity. With the current
// holders, the left side is a linear function of x that is not below this sum, so its solution x is too small
// while flows of others have a higher level. The flows with the highest levels are certainly above the
// solution, so these are taken over first. If that takes long, all flows above x are taken at once, and some
// are given back. These are steps of Newton's method from below.
double FluidLevels::Evaluate(uint32_t l) {
  taken_.clear();
  for (int round = 0;; ++round) {
    ++sums_;
    Link& link = links_[l];
    const Sums sums = SumOthers(link);
    if (link.held.empty()) {
      if (sums.used <= link.capacity * (1 + kOverfill)) {
        if (std::abs(sums.used - link.used) > link.capacity * kOverfill) MarkChanged(l);
        link.used = sums.used;
        return kNoLevel;
      }
      TakeAbove(l, sums.top * (1 - kEqualLevels));
      continue;
    }
    const double level = (link.capacity - sums.used) / link.weight;
    if (sums.top > level * (1 + kEqualLevels) && !link.others.empty()) {
      const double least = level * (1 + kEqualLevels);
      TakeAbove(l, round < kRounds ? std::max(least, sums.top * (1 - kEqualLevels)) : least);
    } else if (!GiveBack(level)) {
      link.used = link.capacity;
      return level;
    }
  }
}

// Moves the link at `place` to the place of its level; returns the new place.
size_t FluidLevels::Place(size_t place) {
  const uint32_t l = order_[place];
  const double level = level_[l];
  size_t p = place;
  const auto put = [&](uint32_t link) {
    order_[p] = link;
    links_[link].place = static_cast<uint32_t>(p);
  };
  for (; p + 1 < order_.size() && level_[order_[p + 1]] < level; ++p) put(order_[p + 1]);
  if (p == place) {
    for (; p > 0 && level_[order_[p - 1]] > level; --p) put(order_[p - 1]);
  }
  put(l);
  return p;
}

void FluidLevels::Drop(size_t place) {
  const uint32_t l = order_[place];
  level_[l] = kNoLevel;
  links_[l].used = 0;
  links_[l].place = kNone;
  links_[l].guessed = false;
  MarkChanged(l);
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(place));
  for (size_t p = place; p < order_.size(); ++p) links_[order_[p]].place = static_cast<uint32_t>(p);
}

void FluidLevels::Mark(uint32_t link, size_t* lowest) {
  if (marked_[link] == 0) {
    marked_[link] = 1;
    ++marks_;
  }
  *lowest = std::min<size_t>(*lowest, links_[link].place);
}

void FluidLevels::MarkLinksOf(uint32_t flow, uint32_t but, size_t* lowest) {
  const FlowRecord& f = flows_[flow];
  for (uint32_t s = f.first; s < f.first + f.count; ++s) {
    if (slots_[s].link != but) Mark(slots_[s].link, lowest);
  }
}

// The link at `place` got another level than `old`, so other links of its flows must be summed again. There
// are two ways. Marking exactly these links costs time for each flow that the link holds. Summing all links
// with a higher level costs nothing now; in a dense network there are few links compared with flows. Links
// before it with an equal level are marked too: they are few, and the links of their flows are many.
void FluidLevels::TellOthers(size_t place, size_t from, double old, size_t* lowest) {
  const uint32_t l = order_[place];
  const std::vector<uint32_t>& held = links_[l].held;
  const double least = std::min(old, level_[l]);
  const size_t first = std::min(place, from);
  marked_for_ += held.size();
  bool some = told_level_ > least && marked_for_ * kMarks <= order_.size();
  size_t tied = first;
  while (!some && tied > 0 && level_[order_[tied - 1]] >= least * (1 - 2 * kEqualLevels)) {
    --tied;
    some = first - tied > held.size();
  }
  if (some) {
    for (const uint32_t s : held) MarkLinksOf(slots_[s].flow, l, lowest);
    return;
  }
  for (size_t p = tied; p < first; ++p) Mark(order_[p], lowest);
  told_ = sums_;
  told_level_ = std::min(told_level_, least);
  *lowest = std::min(*lowest, first + (place == first ? 1 : 0));
}

size_t FluidLevels::Step(size_t place) {
  const uint32_t l = order_[place];
  const double before = level_[l];
  if (marked_[l] == 0 && (seen_[l] >= told_ || before < told_level_)) return place + 1;
  marks_ -= marked_[l];
  marked_[l] = 0;
  if (flows_on(l) == 0) {
    Drop(place);
    return place;
  }
  const bool guessed = links_[l].guessed;
  const double old = guessed ? kNoLevel : before;
  links_[l].guessed = false;
  const double level = Evaluate(l);
  seen_[l] = sums_;
  const Link& link = links_[l];
  const bool same = level == old || std::abs(level - old) * link.weight <= kSumError * link.capacity;
  level_[l] = same ? old : level;
  size_t p = place, next = place + 1;
  if (guessed || level_[l] != before) {
    p = Place(place);
    next = p < place ? p + 1 : p > place ? place : place + 1;
  }
  if (!same) {
    MarkChanged(l);
    TellOthers(p, place, old, &next);
  }
  // The previous holders of the flows that it took have changed.
  for (const Taken& t : taken_) MarkLinksOf(t.flow, l, &next);
  return next;
}

bool FluidLevels::Sweep(size_t place) {
  const uint64_t most = sums_ + kSweeps * order_.size() + 64;
  told_level_ = kNoLevel;
  told_ = 0;
  marked_for_ = 0;
  while (place < order_.size() && (marks_ > 0 || told_ > 0)) {
    if (sums_ > most) return false;
    place = Step(place);
  }
  return true;
}

// Computes all levels from the start, with Filling.
void FluidLevels::Refill() {
  ++refills_;
  filling_.Clear();
  for (const Link& link : links_) filling_.AddLink(link.capacity);
  std::vector<uint32_t> all;
  ForEach([&](uint32_t flow) {
    all.push_back(flow);
    filling_.AddFlow(flows_[flow].weight);
    ForEachHop(flow, [&](uint32_t link, double share) { filling_.On(link, share); });
  });
  filling_.Run();
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (flows_[all[i]].holder != filling_.holder(i)) Move(all[i], filling_.holder(i));
  }
  for (uint32_t l = 0; l < links_.size(); ++l) {
    const double stop = filling_.stop(l);
    level_[l] = links_[l].held.empty() ? kNoLevel : stop;
    links_[l].used = links_[l].held.empty() ? links_[l].capacity - filling_.left(l) : links_[l].capacity;
    if (flows_on(l) == 0) links_[l].used = 0;
    if (links_[l].place != kNone) MarkChanged(l);
    links_[l].place = kNone;
    links_[l].guessed = false;
  }
  order_.clear();
  marks_ = 0;
  std::fill(marked_.begin(), marked_.end(), uint8_t{0});
  for (uint32_t l = 0; l < links_.size(); ++l) {
    if (flows_on(l) > 0) order_.push_back(l);
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [&](uint32_t a, uint32_t b) { return level_[a] < level_[b]; });
  for (size_t p = 0; p < order_.size(); ++p) links_[order_[p]].place = static_cast<uint32_t>(p);
}

void FluidLevels::Solve() {
  changed_.clear();
  moved_.clear();
  if (dirty_.empty()) return;
  size_t first = order_.size();
  for (const uint32_t l : dirty_) {
    links_[l].dirty = false;
    if (links_[l].place == kNone) continue;
    Mark(l, &first);
  }
  dirty_.clear();
  if (fresh_ > 16 + flows() / 8 || !Sweep(first)) Refill();
  fresh_ = 0;
  for (const uint32_t l : changed_) links_[l].changed = false;
  // Flows that were added and removed, or returned to their holder, did not move.
  for (const Moved& m : moving_) {
    if (m.flow == kNone) continue;
    flows_[m.flow].moved = kNone;
    if (m.from != flows_[m.flow].holder) moved_.push_back(m);
  }
  moving_.clear();
}

bool FluidLevels::IsMaxMin(double tolerance) const {
  std::vector<double> used(links_.size(), 0), top(links_.size(), 0);
  ForEach([&](uint32_t flow) {
    const FlowRecord& f = flows_[flow];
    for (uint32_t s = f.first; s < f.first + f.count; ++s) {
      used[slots_[s].link] += level_[f.holder] * slots_[s].weight;
      top[slots_[s].link] = std::max(top[slots_[s].link], level_[f.holder]);
    }
  });
  bool fair = true;
  for (size_t l = 0; l < links_.size(); ++l) fair = fair && used[l] <= links_[l].capacity * (1 + tolerance);
  ForEach([&](uint32_t flow) {
    const uint32_t l = flows_[flow].holder;
    fair = fair && used[l] >= links_[l].capacity * (1 - tolerance) && top[l] <= level_[l] * (1 + tolerance);
  });
  return fair;
}

}  // namespace chakra
