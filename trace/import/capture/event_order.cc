#include "trace/import/capture/event_order.h"

#include <algorithm>
#include <iterator>

#include "trace/base/radix_order.h"

namespace chakra::pytorch {
std::vector<uint32_t> OrderOfEvents(const std::vector<Event>& events) {
  std::vector<uint32_t> order(events.size());
  if (OrderByRuns([&](uint32_t a, uint32_t b) { return ComesBefore(events[a], events[b]); }, &order))
    return order;
  order = OrderByKey(events.size(), [&](size_t row) { return events[row].ts; });
  for (auto begin = order.begin(); begin != order.end();) {
    auto end = std::next(begin);
    while (end != order.end() && events[*end].ts == events[*begin].ts) ++end;
    if (std::next(begin) != end)
      std::stable_sort(begin, end, [&](uint32_t a, uint32_t b) { return events[a].dur > events[b].dur; });
    begin = end;
  }
  return order;
}

}  // namespace chakra::pytorch
