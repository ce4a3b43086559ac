// Finds waits that replace the timers of threads that only query the device.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/device_order.h"
#include "trace/import/timeline/threads.h"

namespace chakra::pytorch {

// `thread` was idle until a timer woke it. `op` is the last device operation that had ended by then.
struct TimerWait {
  uint32_t thread = 0;
  int64_t begin = 0, end = 0;  // the idle time, ns since base
  uint32_t op = 0;             // row of DeviceOrder::ops
};

// A thread that only queries the device (NCCL's watchdog) is woken by a timer, and nothing waits for it. A
// faster run would have fewer of its wake-ups. A replay has as many as the capture, and they must not delay
// the end of the run: so each wake-up follows the device operation that ended last. Only operations that
// ended within the idle time count. The result is sorted by thread and time.
std::vector<TimerWait> FindTimerWaits(const DeviceTrace& device, const HostThreads& host,
                                      const DeviceOrder& order);

}  // namespace chakra::pytorch
