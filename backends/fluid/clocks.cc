#include "backends/fluid/clocks.h"

#include <algorithm>

#include "backends/fluid/rounding.h"

namespace chakra {
namespace {

struct Later {
  template <typename E>
  bool operator()(const E& a, const E& b) const {
    return a.at != b.at ? a.at > b.at : a.flow > b.flow;
  }
};

}  // namespace

uint32_t FluidClocks::AddLink(double capacity) {
  clocks_.emplace_back();
  return levels_.AddLink(capacity);
}

void FluidClocks::MarkChanged(uint32_t link) {
  if (clocks_[link].changed) return;
  clocks_[link].changed = true;
  changed_.push_back(link);
}

uint32_t FluidClocks::Add(const std::vector<FluidHop>& hops, double weight, double left, uint32_t item) {
  const uint32_t flow = levels_.AddFlow(hops, weight);
  if (flow >= flows_.size()) flows_.resize(flow + 1);
  FlowRecord& f = flows_[flow];
  f.link = kNone;
  f.end = left;  // until Solve() puts it on a clock
  f.item = item;
  return flow;
}

void FluidClocks::Remove(uint32_t flow) {
  FlowRecord& f = flows_[flow];
  if (f.link != kNone) Forget(flow);
  ++f.stamp;
  f.link = kNone;
  levels_.RemoveFlow(flow);
}

void FluidClocks::Forget(uint32_t flow) {
  const uint32_t link = flows_[flow].link;
  Clock& clock = clocks_[link];
  ++clock.old;
  if (clock.ends.front().flow == flow) clock.tidy = false;
  MarkChanged(link);
}

void FluidClocks::Tidy(Clock* clock) {
  if (clock->tidy) return;
  clock->tidy = true;
  while (clock->old > 0 && flows_[clock->ends.front().flow].stamp != clock->ends.front().stamp) {
    std::pop_heap(clock->ends.begin(), clock->ends.end(), Later());
    clock->ends.pop_back();
    --clock->old;
  }
}

void FluidClocks::Put(uint32_t flow, uint32_t link, Bytes end) {
  FlowRecord& f = flows_[flow];
  Clock& clock = clocks_[link];
  std::vector<End>& ends = clock.ends;
  if (clock.old > 32 && clock.old > ends.size() / 2) {
    const auto left = [&](const End& e) { return flows_[e.flow].stamp != e.stamp; };
    ends.erase(std::remove_if(ends.begin(), ends.end(), left), ends.end());
    std::make_heap(ends.begin(), ends.end(), Later());
    clock.old = 0;
    clock.tidy = true;
  }
  f.link = link;
  f.end = end;
  ends.push_back({end, flow, ++f.stamp});
  std::push_heap(ends.begin(), ends.end(), Later());
  MarkChanged(link);
}

Time FluidClocks::EndOf(const Clock& clock, const End& end) const {
  if (!(clock.pace > 0)) return Time::Never();
  const double ps = static_cast<double>(end.at - clock.shows) / clock.pace;
  if (!(ps < static_cast<double>((Time::Never() - clock.since).picos()))) return Time::Never();
  return clock.since + FirstPico(ps);
}

void FluidClocks::Solve(Time now) {
  if (!levels_.dirty()) return;
  levels_.Solve();
  for (const FluidLevels::Moved& m : levels_.moved()) {
    FlowRecord& f = flows_[m.flow];
    const uint32_t to = levels_.holder(m.flow);
    const double weight = levels_.weight(m.flow);
    Bytes left = f.end / weight;  // a new flow
    if (f.link != kNone) {
      left = std::max(Bytes{0}, f.end - Shows(clocks_[f.link], now));
      Forget(m.flow);
      ++f.stamp;
    }
    SetTo(&clocks_[to], now);
    Put(m.flow, to, clocks_[to].shows + left);
  }
  for (const uint32_t link : levels_.changed()) MarkChanged(link);
  FindEnds(now);
}

void FluidClocks::Skip(Time now) { FindEnds(now); }

void FluidClocks::FindEnds(Time now) {
  const bool many = changed_.size() > 64 && changed_.size() > ends_.size() / 8;
  for (const uint32_t link : changed_) {
    Clock& clock = clocks_[link];
    clock.changed = false;
    SetTo(&clock, now);
    Tidy(&clock);
    clock.pace = clock.ends.empty() ? 0 : levels_.level(link);
    if (clock.ends.empty()) clock.shows = 0;
    SetNext(link, clock.ends.empty() ? Time::Never() : EndOf(clock, clock.ends.front()), many);
  }
  if (many) ends_.Restore();
  changed_.clear();
}

void FluidClocks::TakeEnds(std::vector<uint32_t>* items) {
  if (ends_.empty()) return;
  const Time next = ends_.at();
  first_.clear();
  ends_.TakeFirst(&first_);
  for (const EventQueue::Event& first_end : first_) {
    const uint32_t link = first_end.item;
    Clock& clock = clocks_[link];
    // The first flow ends now, whatever its clock shows; see SetEnd().
    for (bool first = true; !clock.ends.empty(); first = false) {
      const End end = clock.ends.front();
      if (!first && EndOf(clock, end) > next) break;
      items->push_back(flows_[end.flow].item);
      flows_[end.flow].link = kNone;  // the entry is removed below
      std::pop_heap(clock.ends.begin(), clock.ends.end(), Later());
      clock.ends.pop_back();
      clock.tidy = false;
      Tidy(&clock);
    }
    MarkChanged(link);
  }
}

double FluidClocks::Left(uint32_t flow, Time now) const {
  const FlowRecord& f = flows_[flow];
  if (f.link == kNone) return static_cast<double>(f.end);
  return static_cast<double>(std::max(Bytes{0}, f.end - Shows(clocks_[f.link], now)) * levels_.weight(flow));
}

}  // namespace chakra
