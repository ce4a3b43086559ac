// Finds calls that waited for room in the device's launch queue.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/device_order.h"
#include "trace/import/timeline/threads.h"

namespace chakra::pytorch {

// `call` could not return before `op` had ended, whether it really had to wait or not.
struct QueueWait {
  uint32_t call = 0;  // row of the call
  uint32_t op = 0;    // row of DeviceOrder::ops
};

// A device accepts a limited number of launches ahead of execution, the depth of its queue (about 1,022 with
// NVIDIA's drivers). A host that is further ahead waits, inside the launching call, until the operation
// launched `depth` launches before has ended. A capture shows the depth if the queue was full: long launches
// (kLongLaunchNs) then end within kQueueReactNs after the end of an operation that was launched a constant
// number of launches before. Given the depth, every launch waits for the launch `depth` before it; most of
// those operations ended long ago. The result is sorted by time. It is empty if the capture shows no depth of
// kLeastDepth or more.
inline constexpr int64_t kLongLaunchNs = 100000, kQueueReactNs = 20000;
inline constexpr int64_t kLeastDepth = 128;
std::vector<QueueWait> FindQueueWaits(const DeviceTrace& device, const HostThreads& host,
                                      const DeviceOrder& order);

}  // namespace chakra::pytorch
