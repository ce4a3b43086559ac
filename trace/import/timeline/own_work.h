// Which times between the calls of a host thread are work of the thread's own.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/threads.h"

namespace chakra::pytorch {

// Between two calls that a profiler shows, a thread runs what the profiler does not show: Python, the
// autograd engine, hooks. Such a time is the thread's work, and has a node, unless
// - the thread waited for something that is known (the waits are cut out before);
// - the thread is a servant (thread_waits.h), which has no work of its own; or
// - the time is longer than kOwnWorkNs: then the thread may as well have slept, or waited for a disk or
//   another process, which the capture cannot tell. Such a time stays a delay of kind `thread`: pinned. But a
//   process that called the device's library once in kUnseenCallNs or more often did not sleep: the library
//   numbers all calls of a process (their correlations), those too that the profile does not show.
inline constexpr int64_t kOwnWorkNs = 1000000;
inline constexpr int64_t kUnseenCallNs = 100000;

class OwnWork {
 public:
  // `device` must outlive this.
  OwnWork(const DeviceTrace& device, const HostThreads& host);
  // Whether `thread` worked from `from` to `to`, ns since base. Precondition: no call of the thread is open
  // then, and the thread waited for nothing that is known.
  bool Is(uint32_t thread, int64_t from, int64_t to) const;

 private:
  // Whether the process made many calls in this time of which the profile shows none, on any thread.
  bool CalledUnseen(int64_t from, int64_t to) const;

  const DeviceTrace& d_;
  std::vector<bool> servants_;   // by thread
  std::vector<uint32_t> calls_;  // rows of calls of the device's library, by (begin, correlation)
};

}  // namespace chakra::pytorch
