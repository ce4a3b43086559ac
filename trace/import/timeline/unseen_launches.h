// Counts launches whose kernels a capture does not show.
#pragma once

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/device_order.h"
#include "trace/import/timeline/threads.h"
#include "trace/model/unseen_work.h"

namespace chakra::pytorch {

// Counts the calls in the window that launch kernels and graphs, and those of them for which the capture
// shows no device operation. Calls without a correlation do not count. Calls that the capture of a graph
// records do not count either, because they launch nothing. If calls are nested (a runtime's and its
// driver's), the outermost counts.
UnseenWork FindUnseenWork(const DeviceTrace& device, const HostThreads& host, const DeviceOrder& order);

}  // namespace chakra::pytorch
