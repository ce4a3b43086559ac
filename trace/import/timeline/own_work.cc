#include "trace/import/timeline/own_work.h"

#include <algorithm>
#include <iterator>

#include "trace/import/timeline/thread_waits.h"

namespace chakra::pytorch {

OwnWork::OwnWork(const DeviceTrace& device, const HostThreads& host)
    : d_(device), servants_(FindServants(device, host)) {
  const std::vector<Event>& events = device.events;
  const auto is_call = [](const Event& e) {
    return (e.kind == EventKind::kRuntime || e.kind == EventKind::kDriver) && e.correlation > 0;
  };
  calls_.reserve(static_cast<size_t>(std::count_if(events.begin(), events.end(), is_call)));
  for (uint32_t row = 0; row < events.size(); ++row) {
    if (is_call(events[row])) calls_.push_back(row);
  }
  // Events are sorted by time: only calls that begin at the same time need sorting.
  for (auto begin = calls_.begin(); begin != calls_.end();) {
    auto end = std::next(begin);
    while (end != calls_.end() && events[*end].ts == events[*begin].ts) ++end;
    std::sort(begin, end,
              [&](uint32_t a, uint32_t b) { return events[a].correlation < events[b].correlation; });
    begin = end;
  }
}

bool OwnWork::Is(uint32_t thread, int64_t from, int64_t to) const {
  return to > from && !servants_[thread] && (to - from <= kOwnWorkNs || CalledUnseen(from, to));
}

bool OwnWork::CalledUnseen(int64_t from, int64_t to) const {
  const auto next = std::partition_point(calls_.begin(), calls_.end(),
                                         [&](uint32_t row) { return d_.events[row].ts < from; });
  if (next == calls_.begin() || next == calls_.end() || d_.events[*next].ts < to) return false;
  const int64_t unseen = d_.events[*next].correlation - d_.events[*std::prev(next)].correlation - 1;
  return unseen >= (to - from) / kUnseenCallNs;
}

}  // namespace chakra::pytorch
