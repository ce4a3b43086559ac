// Calls that waited for room in the device's queue.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/device_order.h"
#include "trace/import/timeline/threads.h"

namespace chakra::pytorch {

// `call` had to wait, or would have had to, until `op` had ended.
struct QueueWait {
  uint32_t call = 0;  // row of the call
  uint32_t op = 0;    // row of DeviceOrder::ops
};

// A device takes so many launches ahead (NVIDIA's drivers about 1,022) and no more: a host that is further
// ahead waits, in the call that launches, for the end of the launch that many before. A capture tells the
// depth where the queue was full: long launches end shortly (kQueueReactNs) after the end of an operation
// that was always launched the same number of launches before. Then every launch waits for the one that
// number before it, most of them for something that has long ended. Empty where nothing tells a depth of
// kLeastDepth or more. By time.
inline constexpr int64_t kLongLaunchNs = 100000, kQueueReactNs = 20000;
inline constexpr int64_t kLeastDepth = 128;
std::vector<QueueWait> FindQueueWaits(const DeviceTrace& device, const HostThreads& host,
                                      const DeviceOrder& order);

}  // namespace chakra::pytorch
