// Decides which times between the calls of a host thread are work of the thread itself.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/threads.h"

namespace chakra::pytorch {

// Between two calls that a profiler shows, a thread runs code that the profiler does not show: Python, the
// autograd engine, hooks. Such a time is the thread's own work and gets a node, unless
// - the thread waited for something that is known (the caller has cut out these waits);
// - the thread is a servant (thread_waits.h), which has no work of its own; or
// - the time is longer than kOwnWorkNs. The thread may then have slept, or waited for a disk or another
//   process; the capture does not show which. Such a time is an unexplained delay of kind `thread`. But a
//   process that called the device's library at least once every kUnseenCallNs did not sleep: the library
//   numbers all calls of a process (their correlations), even those that the profile does not show.
inline constexpr int64_t kOwnWorkNs = 1000000;
inline constexpr int64_t kUnseenCallNs = 100000;

class OwnWork {
 public:
  // `device` must outlive the object.
  OwnWork(const DeviceTrace& device, const HostThreads& host);
  // Whether `thread` worked from `from` to `to`, ns since base. Precondition: in this time no call of the
  // thread is open, and the thread waits for nothing that is known.
  bool Is(uint32_t thread, int64_t from, int64_t to) const;

 private:
  // Whether the process made many calls in this time, none of which the profile shows on any thread.
  bool CalledUnseen(int64_t from, int64_t to) const;

  const DeviceTrace& d_;
  std::vector<bool> servants_;   // by thread
  std::vector<uint32_t> calls_;  // rows of calls of the device's library, sorted by (begin, correlation)
};

}  // namespace chakra::pytorch
