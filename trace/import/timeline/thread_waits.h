// Which host thread a host thread of a capture waited for.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/threads.h"
#include "trace/import/timeline/timeline.h"

namespace chakra::pytorch {

// `thread` was idle and went on because of something on another thread.
struct ThreadWait {
  uint32_t thread = 0;
  int64_t from = 0, until = 0;  // the waiting; no bound of the thread lies inside
  uint32_t source = 0;          // the other thread
  int64_t source_time = 0;      // a bound of the other thread, <= until
  EdgeKind kind = EdgeKind::kWakeUp;
  uint32_t event =
      kNoRow;  // or the source is this row, in HostThread::async of `thread`; ended at source_time
};

// Finds waits, by thread and time.
//
// A backward thread (one that works for autograd) waits for its caller between two backward passes, and the
// caller for the backward thread during a pass: `backward()` hands the pass over and returns when the pass is
// done. So a pass begins after an idle time in which the caller did something, the last thing being the
// hand-over; and the caller goes on after the last thing that the backward thread did before the caller's
// next bound.
//
// Other idle times longer than kMinIdleNs are waits if other threads were busy for at least half of the time:
// the last bound, before the idle time ended, of the thread that was busy for half of it, or else the last
// bound of any of them, is taken for what ended it. The first event of a thread counts as one after an idle
// time.
//
// A message or collective that a profiler shows on the thread itself, beside the thread's own calls, explains
// idle time in which the message or collective ended. A message's annotation is ended by the thread that
// waited for the message, so no other thing explains the time until then; a collective's is ended by a
// worker, and the collective must have covered half of the idle time.
//
// A servant, a thread that only asks the device how far it is (NCCL's watchdog wakes by a timer, and nothing
// waits for it) or only carries out collectives of the host, has no work of its own between: all its idle
// times are waits.
inline constexpr int64_t kMinIdleNs = 20000;
std::vector<ThreadWait> FindThreadWaits(const DeviceTrace& device, const HostThreads& host);

// By thread: whether it is a servant.
std::vector<bool> FindServants(const DeviceTrace& device, const HostThreads& host);

// By thread: the thread that it does backward passes for; kNoRow: it is no backward thread. At least half of
// what a backward thread does by itself is autograd's. The caller is the thread that most arrows from forward
// to backward operators come from, or else, of the threads that are no backward threads, the one with most
// operators.
std::vector<uint32_t> BackwardCallers(const DeviceTrace& device, const HostThreads& host);

}  // namespace chakra::pytorch
