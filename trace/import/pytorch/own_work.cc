#include "trace/import/pytorch/own_work.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trace/import/pytorch/thread_waits.h"

namespace chakra::pytorch {

OwnWork::OwnWork(const DeviceTrace& device, const HostThreads& host) : servants_(FindServants(device, host)) {
  for (const Event& e : device.events) {
    if ((e.kind == EventKind::kRuntime || e.kind == EventKind::kDriver) && e.correlation > 0)
      calls_.push_back({e.ts, e.correlation});
  }
  // Events come by time: what is left is the order of calls that begin at once.
  for (auto begin = calls_.begin(); begin != calls_.end();) {
    auto end = std::next(begin);
    while (end != calls_.end() && end->first == begin->first) ++end;
    std::sort(begin, end);
    begin = end;
  }
}

bool OwnWork::Is(uint32_t thread, int64_t from, int64_t to) const {
  return to > from && !servants_[thread] && (to - from <= kOwnWorkNs || CalledUnseen(from, to));
}

bool OwnWork::CalledUnseen(int64_t from, int64_t to) const {
  const auto next = std::lower_bound(calls_.begin(), calls_.end(), std::pair(from, int64_t{0}));
  if (next == calls_.begin() || next == calls_.end() || next->first < to) return false;
  const int64_t unseen = next->second - std::prev(next)->second - 1;
  return unseen >= (to - from) / kUnseenCallNs;
}

}  // namespace chakra::pytorch
