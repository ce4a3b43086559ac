// Finds the host threads that a host thread of a capture waited for.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/timeline/threads.h"
#include "trace/import/timeline/timeline.h"

namespace chakra::pytorch {

// `thread` was idle, and continued because of an event on another thread.
struct ThreadWait {
  uint32_t thread = 0;
  int64_t from = 0, until = 0;  // the time of waiting; no event of the thread begins or ends inside
  uint32_t source = 0;          // the other thread
  int64_t source_time = 0;      // begin or end of an event of the other thread, <= until
  EdgeKind kind = EdgeKind::kWakeUp;
  // If set, the source is this row in HostThread::async of `thread`; it ended at source_time.
  uint32_t event = kNoRow;
};

// Finds waits, sorted by thread and time.
//
// A backward thread (one that works for autograd) waits for its caller between two backward passes, and the
// caller waits for the backward thread during a pass: `backward()` hands the pass over and returns when the
// pass is done. So a pass begins after an idle time in which the caller was active; the caller's last begin
// or end of an event is the hand-over. The caller continues after the last activity of the backward thread
// before the caller's own next event begins or ends.
//
// Other idle times longer than kMinIdleNs are waits if other threads were busy for at least half of the time.
// If one thread alone was busy for half of it, its last begin or end of an event before the idle time ended
// is taken as the source; otherwise the last one of any of these threads. The time before a thread's first
// event counts as idle.
//
// A message or collective that a profiler shows on the thread itself, in addition to the thread's own calls,
// explains idle time in which it ended. The annotation of a message is ended by the thread that waited for
// the message, so nothing else explains the time until then. The annotation of a collective is ended by a
// worker, so the collective must cover half of the idle time.
//
// A servant is a thread that only queries the device (NCCL's watchdog, which a timer wakes and nothing waits
// for) or only carries out collectives of the host. It has no work of its own: all its idle times are waits.
inline constexpr int64_t kMinIdleNs = 20000;
std::vector<ThreadWait> FindThreadWaits(const DeviceTrace& device, const HostThreads& host);

// Whether each thread is a servant.
std::vector<bool> FindServants(const DeviceTrace& device, const HostThreads& host);

// For each thread, the thread for which it runs backward passes; kNoRow: it is not a backward thread. At
// least half of the outermost operators of a backward thread are autograd's. The caller is a thread that is
// not a backward thread: the one with the most arrows from its forward operators to the backward thread or,
// if equal, with the most operators.
std::vector<uint32_t> BackwardCallers(const DeviceTrace& device, const HostThreads& host);

}  // namespace chakra::pytorch
