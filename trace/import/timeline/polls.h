// Finds host calls that wait for a kernel by polling memory, without a runtime call that shows the wait: the
// host code of DeepEP's notify kernels, of copies that spin on a flag, and others.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/device_order.h"
#include "trace/import/timeline/threads.h"

namespace chakra::pytorch {

// `call` continued after the operation had ended.
struct Poll {
  uint32_t call = 0;  // row of an operator or a runtime call
  uint32_t op = 0;    // row of `ops`
};

// A stretch of a call without callees is a poll if it lasts kMinPollNs or longer, ends shortly (at most
// kReactNs or a twentieth of the stretch) after the end of the operation that the thread launched last, and
// that launch was in the same outermost operator. One such stretch may be chance: at least three of four long
// stretches of calls of this name must end like this.
inline constexpr int64_t kMinPollNs = 100000, kReactNs = 10000;
// `ops`: sorted by begin, with launches. The result is sorted by thread and time.
std::vector<Poll> FindPolls(const DeviceTrace& device, const HostThreads& host,
                            const std::vector<DeviceOp>& ops);

}  // namespace chakra::pytorch
