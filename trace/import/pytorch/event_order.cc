#include "trace/import/pytorch/event_order.h"

#include <algorithm>
#include <tuple>

namespace chakra::pytorch {
namespace {

struct SortKey {
  int64_t ts, dur;
  uint32_t row;
  bool operator<(const SortKey& o) const { return std::tie(ts, o.dur, row) < std::tie(o.ts, dur, o.row); }
};

}  // namespace

std::vector<uint32_t> OrderOfEvents(const std::vector<Event>& events) {
  std::vector<uint32_t> order(events.size());
  if (OrderByRuns([&](uint32_t a, uint32_t b) { return ComesBefore(events[a], events[b]); }, &order))
    return order;
  std::vector<SortKey> keys(events.size());
  for (uint32_t i = 0; i < keys.size(); ++i) keys[i] = {events[i].ts, events[i].dur, i};
  std::sort(keys.begin(), keys.end());
  for (uint32_t i = 0; i < keys.size(); ++i) order[i] = keys[i].row;
  return order;
}

}  // namespace chakra::pytorch
