#include "backends/fluid/network.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace chakra {
namespace {

constexpr double kRounding = 1e-12;  // of a capacity: what sums of rates may be off by

}  // namespace

uint32_t FluidNetwork::AddLink(double capacity) {
  links_.push_back(Link{capacity});
  return static_cast<uint32_t>(links_.size() - 1);
}

void FluidNetwork::MarkDirty(uint32_t link) {
  if (links_[link].dirty) return;
  links_[link].dirty = true;
  dirty_.push_back(link);
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

uint32_t FluidNetwork::AddFlow(const std::vector<uint32_t>& links, double weight, int priority) {
  uint32_t id;
  if (free_flows_.empty()) {
    id = static_cast<uint32_t>(flows_.size());
    flows_.emplace_back();
  } else {
    id = free_flows_.back();
    free_flows_.pop_back();
  }
  FlowRecord& f = flows_[id];
  f.weight = weight;
  f.priority = priority;
  f.rate = 0;
  f.count = static_cast<uint32_t>(links.size());
  f.first = TakeSlots(f.count);
  for (uint32_t i = 0; i < f.count; ++i) {
    Link& link = links_[links[i]];
    const uint32_t slot = f.first + i;
    slots_[slot] = {id, links[i], link.head, kNone};
    if (link.head != kNone) slots_[link.head].previous = slot;
    link.head = slot;
    MarkDirty(links[i]);
  }
  return id;
}

void FluidNetwork::RemoveFlow(uint32_t flow) {
  FlowRecord& f = flows_[flow];
  for (uint32_t slot = f.first; slot < f.first + f.count; ++slot) {
    const Slot& s = slots_[slot];
    (s.previous == kNone ? links_[s.link].head : slots_[s.previous].next) = s.next;
    if (s.next != kNone) slots_[s.next].previous = s.previous;
    MarkDirty(s.link);
  }
  if (free_slots_.size() <= f.count) free_slots_.resize(f.count + 1);
  free_slots_[f.count].push_back(f.first);
  f.count = 0;
  free_flows_.push_back(flow);
}

// What hangs together with the dirty links.
void FluidNetwork::Gather() {
  ++mark_;
  part_links_.clear();
  part_flows_.clear();
  priorities_.clear();
  for (const uint32_t link : dirty_) {
    links_[link].dirty = false;
    links_[link].mark = mark_;
    part_links_.push_back(link);
  }
  dirty_.clear();
  for (size_t i = 0; i < part_links_.size(); ++i) {
    Link& link = links_[part_links_[i]];
    link.left = link.capacity;
    for (uint32_t slot = link.head; slot != kNone; slot = slots_[slot].next) {
      FlowRecord& f = flows_[slots_[slot].flow];
      if (f.mark == mark_) continue;
      f.mark = mark_;
      f.fixed = false;
      part_flows_.push_back(slots_[slot].flow);
      if (priorities_.empty() || f.priority != priorities_.back()) priorities_.push_back(f.priority);
      for (uint32_t s = f.first; s < f.first + f.count; ++s) {
        Link& other = links_[slots_[s].link];
        if (other.mark == mark_) continue;
        other.mark = mark_;
        part_links_.push_back(slots_[s].link);
      }
    }
  }
  std::sort(priorities_.begin(), priorities_.end(), std::greater<int>());
  priorities_.erase(std::unique(priorities_.begin(), priorities_.end()), priorities_.end());
}

void FluidNetwork::Fix(uint32_t flow, double rate) {
  FlowRecord& f = flows_[flow];
  f.fixed = true;
  f.solved = rate;
  for (uint32_t s = f.first; s < f.first + f.count; ++s) {
    Link& link = links_[slots_[s].link];
    link.left -= rate;
    if (link.left < link.capacity * kRounding) link.left = 0;
    link.weight -= f.weight;
    --link.growing;
  }
}

// Shares only grow as others stand still, so a link whose share is out of date is
// met too early, never too late, and goes back with the new one.
void FluidNetwork::FillPriority(int priority) {
  const auto grows = [&](uint32_t flow) { return !flows_[flow].fixed && flows_[flow].priority == priority; };
  for (const uint32_t id : part_links_) {
    Link& link = links_[id];
    link.weight = 0;
    link.growing = 0;
    for (uint32_t slot = link.head; slot != kNone; slot = slots_[slot].next) {
      if (!grows(slots_[slot].flow)) continue;
      link.weight += flows_[slots_[slot].flow].weight;
      ++link.growing;
    }
    if (link.growing > 0) heap_.Push({link.left / link.weight, id});
  }
  while (!heap_.empty()) {
    const Fill fill = heap_.top();
    heap_.Pop();
    const Link& link = links_[fill.link];
    if (link.growing == 0) continue;
    const double share = link.left / link.weight;
    if (share > fill.share && !heap_.empty() && heap_.top().share < share) {
      heap_.Push({share, fill.link});
      continue;
    }
    for (uint32_t slot = link.head; slot != kNone; slot = slots_[slot].next) {
      const uint32_t id = slots_[slot].flow;
      if (grows(id)) Fix(id, share * flows_[id].weight);
    }
  }
}

void FluidNetwork::Solve(std::vector<uint32_t>* changed) {
  changed->clear();
  if (dirty_.empty()) return;
  Gather();
  for (const int priority : priorities_) FillPriority(priority);
  work_ += part_flows_.size();
  for (const uint32_t id : part_flows_) {
    FlowRecord& f = flows_[id];
    if (f.solved == f.rate) continue;
    f.rate = f.solved;
    changed->push_back(id);
  }
}

bool FluidNetwork::IsMaxMin(double tolerance) const {
  const auto sum = [&](const Link& link, int least_priority) {
    double rate = 0;
    for (uint32_t slot = link.head; slot != kNone; slot = slots_[slot].next) {
      const FlowRecord& f = flows_[slots_[slot].flow];
      if (f.priority >= least_priority) rate += f.rate;
    }
    return rate;
  };
  for (const Link& link : links_) {
    if (sum(link, -0x7fffffff) > link.capacity * (1 + tolerance)) return false;
  }
  for (const FlowRecord& f : flows_) {
    bool held = f.count == 0;
    for (uint32_t s = f.first; s < f.first + f.count && !held; ++s) {
      const Link& link = links_[slots_[s].link];
      held = sum(link, f.priority) >= link.capacity * (1 - tolerance);
      for (uint32_t slot = link.head; slot != kNone && held; slot = slots_[slot].next) {
        const FlowRecord& o = flows_[slots_[slot].flow];
        if (o.priority == f.priority)
          held = o.rate / o.weight <= f.rate / f.weight * (1 + tolerance) + 1e-300;
      }
    }
    if (!held) return false;
  }
  return true;
}

}  // namespace chakra
