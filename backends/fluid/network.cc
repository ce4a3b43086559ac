#include "backends/fluid/network.h"

#include <algorithm>
#include <functional>
#include <map>

namespace chakra {
namespace {

constexpr double kFull = 1e-12;   // share of its capacity that a full link may have left
constexpr double kEqual = 1e-12;  // relative difference of levels that count as equal
constexpr double kSame = 1e-15;   // relative difference of a level that counts as unchanged
constexpr int kMostRounds = 16;   // rounds of Spread() before all connected flows are filled again

}  // namespace

void FluidNetwork::MarkDirty(uint32_t link) {
  if (links_[link].dirty) return;
  links_[link].dirty = true;
  dirty_.push_back(link);
}

uint32_t FluidNetwork::AddLink(double capacity) {
  links_.emplace_back();
  links_.back().capacity = capacity;
  return static_cast<uint32_t>(links_.size() - 1);
}

void FluidNetwork::SetCapacity(uint32_t link, double capacity) {
  Link& l = links_[link];
  l.joined = l.joined || capacity < l.capacity;
  l.capacity = capacity;
  MarkDirty(link);
}

uint32_t FluidNetwork::TakeSlots(uint32_t count) {
  if (count < free_slots_.size() && !free_slots_[count].empty()) {
    const uint32_t first = free_slots_[count].back();
    free_slots_[count].pop_back();
    return first;
  }
  const auto first = static_cast<uint32_t>(slots_.size());
  slots_.resize(slots_.size() + count);
  return first;
}

uint32_t FluidNetwork::AddFlow(const std::vector<FluidHop>& hops, double weight, int priority) {
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
  f.priority = priority;
  f.fresh = true;
  f.count = static_cast<uint32_t>(hops.size());
  f.first = TakeSlots(f.count);
  for (uint32_t i = 0; i < f.count; ++i) {
    Link& link = links_[hops[i].link];
    slots_[f.first + i] = {hops[i].share, id, hops[i].link, static_cast<uint32_t>(link.slots.size())};
    link.slots.push_back(f.first + i);
    link.weight.Add(weight * hops[i].share);
    link.joined = true;
    MarkDirty(hops[i].link);
  }
  fresh_.push_back(id);
  CountPriority(priority, 1);
  return id;
}

void FluidNetwork::RemoveFlow(uint32_t flow) {
  FlowRecord& f = flows_[flow];
  if (f.holder != kNone) Release(flow);
  for (uint32_t s = f.first; s < f.first + f.count; ++s) {
    const Slot& slot = slots_[s];
    Link& link = links_[slot.link];
    const uint32_t last = link.slots.back();
    link.slots[slot.place] = last;
    slots_[last].place = slot.place;
    link.slots.pop_back();
    if (link.slots.empty()) {
      link.used = link.weight = Sum();
      link.bound = 0;
    } else {
      link.used.Add(-(f.level * f.weight * slot.share));
      link.weight.Add(-(f.weight * slot.share));
    }
    MarkDirty(slot.link);
  }
  if (free_slots_.size() <= f.count) free_slots_.resize(f.count + 1);
  free_slots_[f.count].push_back(f.first);
  CountPriority(f.priority, -1);
  f.count = 0;
  free_flows_.push_back(flow);
}

void FluidNetwork::CountPriority(int priority, int by) {
  size_t i = 0;
  while (i < priorities_.size() && priorities_[i].priority > priority) ++i;
  if (i == priorities_.size() || priorities_[i].priority != priority) {
    priorities_.insert(priorities_.begin() + static_cast<std::ptrdiff_t>(i), {priority, 0});
  }
  const int64_t before = priorities_[i].flows;
  priorities_[i].flows += by;
  priorities_used_ += (before == 0) - (before > 0 && before + by == 0);
}

void FluidNetwork::Hold(uint32_t flow, uint32_t link, double level) {
  Link& l = links_[link];
  l.level = l.held.empty() ? level : std::min(l.level, level);
  flows_[flow].holder = link;
  flows_[flow].place = static_cast<uint32_t>(l.held.size());
  l.held.push_back(flow);
}

void FluidNetwork::Release(uint32_t flow) {
  FlowRecord& f = flows_[flow];
  Few& held = links_[f.holder].held;
  held[f.place] = held.back();
  flows_[held.back()].place = f.place;
  held.pop_back();
  f.holder = kNone;
}

void FluidNetwork::Touch(uint32_t link) {
  Link& l = links_[link];
  if (l.mark == mark_) return;
  l.mark = mark_;
  l.local = static_cast<uint32_t>(part_links_.size());
  part_links_.push_back({link, 0, l.used});
}

void FluidNetwork::Free(uint32_t flow) {
  FlowRecord& f = flows_[flow];
  f.mark = mark_;
  if (f.holder != kNone) Release(flow);
  part_.push_back(flow);
  for (uint32_t s = f.first; s < f.first + f.count; ++s) {
    Touch(slots_[s].link);
    PartLink& l = part_links_[links_[slots_[s].link].local];
    ++l.free;
    l.fixed.Add(-(f.level * f.weight * slots_[s].share));
  }
}

double FluidNetwork::Left(const Link& link) const {
  return InFilling(link) ? filling_.left(link.local) : link.capacity - link.used.value();
}

bool FluidNetwork::HeldElsewhere(uint32_t flow, uint32_t but) {
  const FlowRecord& f = flows_[flow];
  for (uint32_t s = f.first; s < f.first + f.count; ++s) {
    const Link& l = links_[slots_[s].link];
    if (slots_[s].link == but || Left(l) > l.capacity * kFull) continue;
    const double most = InFilling(l) ? std::max(l.bound, filling_.top(l.local)) : l.bound;
    if (f.level < most * (1 - kEqual)) continue;
    Hold(flow, slots_[s].link, f.level);
    return true;
  }
  return false;
}

void FluidNetwork::Loosen(uint32_t link) {
  Few& held = links_[link].held;
  loose_.assign(held.begin(), held.end());
  held.clear();
  for (const uint32_t flow : loose_) {
    flows_[flow].holder = kNone;
    if (!HeldElsewhere(flow, link)) Free(flow);
  }
}

// Frees the flows on the link that have a higher level than `level`.
void FluidNetwork::FreeAbove(uint32_t link, double level) {
  double bound = 0;
  Link& l = links_[link];
  for (const uint32_t slot : l.slots) {
    const uint32_t flow = slots_[slot].flow;
    const FlowRecord& f = flows_[flow];
    if (f.mark == mark_) continue;
    if (f.level > level * (1 + kEqual)) {
      Free(flow);
    } else {
      bound = std::max(bound, f.level);
    }
  }
  l.bound = bound;
}

// If no other flow uses its links, gives the flow the rate of the narrowest link. False: there are other
// flows.
bool FluidNetwork::SetAlone(uint32_t flow) {
  FlowRecord& f = flows_[flow];
  uint32_t holder = kNone;
  double level = 0;
  for (uint32_t s = f.first; s < f.first + f.count; ++s) {
    const Link& l = links_[slots_[s].link];
    if (l.slots.size() > 1) return false;
    const double full = l.capacity / (f.weight * slots_[s].share);
    if (holder != kNone && full >= level) continue;
    level = full;
    holder = slots_[s].link;
  }
  for (uint32_t s = f.first; s < f.first + f.count; ++s) {
    Link& l = links_[slots_[s].link];
    l.used = Sum();
    l.used.Add(level * f.weight * slots_[s].share);
    l.bound = level;
    l.joined = false;
  }
  f.level = level;
  f.fresh = false;
  Hold(flow, holder, level);
  ++work_;
  return true;
}

void FluidNetwork::Seed(std::vector<uint32_t>* changed) {
  for (const uint32_t flow : fresh_) {
    if (flows_[flow].count == 0 || !flows_[flow].fresh || flows_[flow].mark == mark_) continue;
    if (!SetAlone(flow)) {
      Free(flow);
    } else if (flows_[flow].level > 0) {
      changed->push_back(flow);
    }
  }
  for (const uint32_t link : dirty_) {
    Link& l = links_[link];
    const bool full = l.capacity - l.used.value() <= l.capacity * kFull;
    if (full && l.joined && !l.slots.empty()) {
      // A link gives its flows at least this level.
      FreeAbove(link, l.capacity / l.weight.value());
    } else if (!full && !l.held.empty()) {
      Loosen(link);
    }
  }
}

// Fills the flows of one priority into the capacities `left` of part_links_.
void FluidNetwork::Fill(int priority, bool all, const std::vector<double>& left) {
  filling_.Clear();
  local_.clear();
  for (const double l : left) filling_.AddLink(l);
  for (uint32_t i = 0; i < part_.size(); ++i) {
    const FlowRecord& f = flows_[part_[i]];
    if (!all && f.priority != priority) continue;
    local_.push_back(i);
    filling_.AddFlow(f.weight);
    for (uint32_t s = f.first; s < f.first + f.count; ++s) {
      filling_.On(links_[slots_[s].link].local, slots_[s].share);
    }
  }
  filling_.Run();
  for (uint32_t i = 0; i < local_.size(); ++i) {
    new_level_[local_[i]] = filling_.level(i);
    new_holder_[local_[i]] = part_links_[filling_.holder(i)].link;
  }
  filled_ = part_links_.size();
  work_ += local_.size();
}

void FluidNetwork::FillPart() {
  new_level_.resize(part_.size());
  new_holder_.resize(part_.size());
  left_.clear();
  for (const PartLink& part : part_links_) {
    const Link& l = links_[part.link];
    left_.push_back(part.free == l.slots.size() ? l.capacity : l.capacity - part.fixed.value());
  }
  if (priorities_used_ <= 1) {
    Fill(0, true, left_);
    return;
  }
  for (const Priority& p : priorities_) {
    if (p.flows == 0) continue;
    Fill(p.priority, false, left_);
    for (uint32_t i = 0; i < left_.size(); ++i) left_[i] = filling_.left(i);
  }
}

bool FluidNetwork::Spread() {
  const size_t before = part_.size();
  for (size_t i = 0; i < filled_; ++i) {
    const uint32_t link = part_links_[i].link;
    const Link& l = links_[link];
    if (part_links_[i].free == l.slots.size()) continue;
    const bool full = Left(l) <= l.capacity * kFull;
    if (!l.held.empty() && (!full || filling_.top(l.local) > l.level * (1 + kEqual))) Loosen(link);
    const double stop = filling_.stop(l.local);
    if (stop >= 0 && l.bound > stop * (1 + kEqual)) FreeAbove(link, stop);
  }
  return part_.size() > before;
}

void FluidNetwork::FreeAllThatHangsTogether() {
  for (size_t i = 0; i < part_links_.size(); ++i) {
    for (size_t s = 0; s < links_[part_links_[i].link].slots.size(); ++s) {
      const uint32_t flow = slots_[links_[part_links_[i].link].slots[s]].flow;
      if (flows_[flow].mark != mark_) Free(flow);
    }
  }
}

void FluidNetwork::Commit(std::vector<uint32_t>* changed) {
  for (size_t i = 0; i < part_.size(); ++i) {
    FlowRecord& f = flows_[part_[i]];
    const double level = new_level_[i];
    Hold(part_[i], new_holder_[i], level);
    f.fresh = false;
    const double by = level > f.level ? level - f.level : f.level - level;
    if (by <= f.level * kSame) continue;
    for (uint32_t s = f.first; s < f.first + f.count; ++s) {
      Sum& used = links_[slots_[s].link].used;
      used.Add(-(f.level * f.weight * slots_[s].share));
      used.Add(level * f.weight * slots_[s].share);
    }
    f.level = level;
    changed->push_back(part_[i]);
  }
  for (const PartLink& part : part_links_) {
    Link& l = links_[part.link];
    if (priorities_used_ > 1) {
      // Flows of other priorities may have a higher level.
      l.bound = 0;
      for (const uint32_t slot : l.slots) l.bound = std::max(l.bound, flows_[slots_[slot].flow].level);
      continue;
    }
    const double top = std::max(0.0, filling_.top(l.local));
    l.bound = part.free == l.slots.size() ? top : std::max(l.bound, top);
  }
}

void FluidNetwork::Solve(std::vector<uint32_t>* changed) {
  changed->clear();
  if (dirty_.empty()) return;
  ++mark_;
  part_.clear();
  part_links_.clear();
  filled_ = 0;
  if (priorities_used_ > 1) {
    for (const uint32_t link : dirty_) Touch(link);
    FreeAllThatHangsTogether();
    FillPart();
  } else {
    Seed(changed);
    if (!part_.empty()) FillPart();
    for (int round = 0; !part_.empty() && Spread(); ++round) {
      if (round >= kMostRounds) FreeAllThatHangsTogether();
      FillPart();
    }
  }
  touched_.clear();
  for (const PartLink& part : part_links_) touched_.push_back(part.link);
  for (const uint32_t link : dirty_) {
    links_[link].dirty = links_[link].joined = false;
    if (links_[link].mark != mark_) touched_.push_back(link);
  }
  dirty_.clear();
  fresh_.clear();
  Commit(changed);
}

bool FluidNetwork::IsMaxMin(double tolerance) const {
  struct OfPriority {
    double used = 0;
    double top = 0;  // the highest level
  };
  std::vector<std::map<int, OfPriority, std::greater<int>>> of(links_.size());
  for (size_t i = 0; i < links_.size(); ++i) {
    for (const uint32_t slot : links_[i].slots) {
      const FlowRecord& f = flows_[slots_[slot].flow];
      OfPriority& p = of[i][f.priority];
      p.used += f.level * f.weight * slots_[slot].share;
      p.top = std::max(p.top, f.level);
    }
    double used = 0;
    for (auto& [priority, p] : of[i]) p.used = used += p.used;  // including all higher priorities
    if (used > links_[i].capacity * (1 + tolerance)) return false;
  }
  for (const FlowRecord& f : flows_) {
    bool held = f.count == 0;
    for (uint32_t s = f.first; s < f.first + f.count && !held; ++s) {
      const OfPriority& p = of[slots_[s].link].at(f.priority);
      held = p.used >= links_[slots_[s].link].capacity * (1 - tolerance) &&
             p.top <= f.level * (1 + tolerance) + 1e-300;
    }
    if (!held) return false;
  }
  return true;
}

}  // namespace chakra
