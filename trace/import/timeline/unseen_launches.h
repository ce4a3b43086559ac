// Launches whose kernels a capture does not show.
#pragma once

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/device_order.h"
#include "trace/import/timeline/threads.h"
#include "trace/model/unseen_work.h"

namespace chakra::pytorch {

// Counts the calls of the window that launch kernels and graphs, and those of them of which no operation of
// the device tells. Calls without a correlation do not count, nor those that a graph's capture records: these
// launch nothing. Of calls inside one another (a runtime's and its driver's) the outermost counts.
UnseenWork FindUnseenWork(const DeviceTrace& device, const HostThreads& host, const DeviceOrder& order);

}  // namespace chakra::pytorch
