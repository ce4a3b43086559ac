#include "trace/import/timeline/timer_waits.h"

#include <algorithm>
#include <numeric>

#include "trace/import/timeline/thread_waits.h"

namespace chakra::pytorch {
namespace {

// Whether a servant queries the device, and carries out no collectives of the host.
bool AsksDevice(const DeviceTrace& device, const HostThread& thread) {
  const auto calls = [&](uint32_t row) { return device.events[row].kind >= EventKind::kRuntime; };
  const auto collective = [&](uint32_t row) { return IsHostCollective(device, device.events[row]); };
  return std::any_of(thread.events.begin(), thread.events.end(), calls) &&
         std::none_of(thread.events.begin(), thread.events.end(), collective);
}

}  // namespace

std::vector<TimerWait> FindTimerWaits(const DeviceTrace& device, const HostThreads& host,
                                      const DeviceOrder& order) {
  std::vector<TimerWait> waits;
  const std::vector<bool> servants = FindServants(device, host);
  std::vector<uint32_t> by_end;
  for (uint32_t t = 0; t < host.threads.size(); ++t) {
    const HostThread& thread = host.threads[t];
    if (!servants[t] || !AsksDevice(device, thread)) continue;
    if (by_end.empty()) {
      by_end.resize(order.ops.size());
      std::iota(by_end.begin(), by_end.end(), 0);
      std::sort(by_end.begin(), by_end.end(), [&](uint32_t a, uint32_t b) {
        return order.ops[a].end != order.ops[b].end ? order.ops[a].end < order.ops[b].end : a < b;
      });
    }
    int64_t idle_since = host.window_begin;
    for (const Interval& busy : thread.busy) {
      const auto it = std::partition_point(by_end.begin(), by_end.end(),
                                           [&](uint32_t op) { return order.ops[op].end <= busy.begin; });
      if (it != by_end.begin() && order.ops[*(it - 1)].end > idle_since)
        waits.push_back({t, idle_since, busy.begin, *(it - 1)});
      idle_since = busy.end;
    }
  }
  return waits;
}

}  // namespace chakra::pytorch
