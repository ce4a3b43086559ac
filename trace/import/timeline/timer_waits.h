// What stands in for the timers of threads that only ask.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/device_order.h"
#include "trace/import/timeline/threads.h"

namespace chakra::pytorch {

// `thread` was idle until a timer woke it; the last device operation that had ended by then is `op`.
struct TimerWait {
  uint32_t thread = 0;
  int64_t begin = 0, end = 0;  // of the idle time, ns since base
  uint32_t op = 0;             // row of DeviceOrder::ops
};

// A thread that does nothing but ask the device how far it is (NCCL's watchdog) wakes by a timer, and nobody
// waits for it. A run in which everything is faster has fewer of its rounds; in a replay, which has as many
// as the capture, they must not hold the end of the run. So each round follows what the device did last.
// By thread and time; only operations that ended within the idle time.
std::vector<TimerWait> FindTimerWaits(const DeviceTrace& device, const HostThreads& host,
                                      const DeviceOrder& order);

}  // namespace chakra::pytorch
