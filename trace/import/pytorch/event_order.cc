#include "trace/import/pytorch/event_order.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

namespace chakra::pytorch {
namespace {

// With more runs than this, merging two by two goes over the events more often than sorting keys costs.
constexpr size_t kMostRuns = 64;

struct SortKey {
  int64_t ts, dur;
  uint32_t row;
  bool operator<(const SortKey& o) const { return std::tie(ts, o.dur, row) < std::tie(o.ts, dur, o.row); }
};

// Where runs of events that are in order end. Empty: there are more than kMostRuns.
std::vector<size_t> EndsOfRuns(const std::vector<Event>& events) {
  std::vector<size_t> ends;
  for (size_t i = 1; i <= events.size(); ++i) {
    if (i < events.size() && !ComesBefore(events[i], events[i - 1])) continue;
    if (ends.size() == kMostRuns) return {};
    ends.push_back(i);
  }
  return ends;
}

// Files interleave a few runs, one for each table or line. Runs are merged two by two.
void MergeRuns(const std::vector<Event>& events, std::vector<size_t> ends, std::vector<uint32_t>* order) {
  std::vector<uint32_t> merged(ends.size() > 1 ? events.size() : 0);
  while (ends.size() > 1) {
    std::vector<size_t> next;
    size_t begin = 0;
    for (size_t r = 0; r < ends.size(); r += 2) {
      const auto at = [&](size_t i) { return order->begin() + static_cast<std::ptrdiff_t>(i); };
      const size_t end = r + 1 < ends.size() ? ends[r + 1] : ends[r];
      std::merge(at(begin), at(ends[r]), at(ends[r]), at(end),
                 merged.begin() + static_cast<std::ptrdiff_t>(begin),
                 [&](uint32_t a, uint32_t b) { return ComesBefore(events[a], events[b]); });
      next.push_back(end);
      begin = end;
    }
    order->swap(merged);
    ends = std::move(next);
  }
}

}  // namespace

std::vector<uint32_t> OrderOfEvents(const std::vector<Event>& events) {
  std::vector<uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0);
  if (std::vector<size_t> ends = EndsOfRuns(events); !ends.empty()) {
    MergeRuns(events, std::move(ends), &order);
    return order;
  }
  std::vector<SortKey> keys(events.size());
  for (uint32_t i = 0; i < keys.size(); ++i) keys[i] = {events[i].ts, events[i].dur, i};
  std::sort(keys.begin(), keys.end());
  for (uint32_t i = 0; i < keys.size(); ++i) order[i] = keys[i].row;
  return order;
}

}  // namespace chakra::pytorch
