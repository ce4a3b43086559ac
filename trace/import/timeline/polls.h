// Host calls of a capture that wait for a kernel by polling memory, without a call to the runtime that says
// so: the host sides of DeepEP's notify kernels, of copies that spin on a flag, and the like.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/device_order.h"
#include "trace/import/timeline/threads.h"

namespace chakra::pytorch {

// `call` went on when the operation had ended.
struct Poll {
  uint32_t call = 0;  // row of an operator or a call of the runtime
  uint32_t op = 0;    // of the operations given
};

// A stretch of a call without callees polls if it lasts kMinPollNs or longer, goes on shortly (at most
// kReactNs or a twentieth of the stretch) after the end of the operation that the thread launched last, and
// the launch was in the same outermost operator. One such stretch may be chance: at least three of four long
// stretches of calls of this name must end so.
inline constexpr int64_t kMinPollNs = 100000, kReactNs = 10000;
// `ops`: by begin, with launches. Polls by thread and time.
std::vector<Poll> FindPolls(const DeviceTrace& device, const HostThreads& host,
                            const std::vector<DeviceOp>& ops);

}  // namespace chakra::pytorch
