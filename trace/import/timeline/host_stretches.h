// The nodes of a capture's host threads: the stretches of calls between their callees, and the thread's own
// work between calls.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/timeline/own_work.h"
#include "trace/import/timeline/threads.h"
#include "trace/import/timeline/timeline.h"
#include "trace/import/timeline/timeline_draft.h"

namespace chakra::pytorch {

// Why a host thread went on at `until`. No bound of the thread lies inside a wait.
struct HostWait {
  int64_t from = 0, until = 0;
  uint32_t call = kNoRow;  // the runtime call that waits; kNoRow: the thread was idle
  EdgeKind kind = EdgeKind::kSync;
  std::vector<uint32_t> device;  // sources: operations of the device
  uint32_t event = kNoRow;       // or an event of the thread's own that is not in its order
  uint32_t thread = kNoRow;      // or the other thread whose bound is the source
  int64_t time = 0;              // that bound
};

struct ThreadMarks {
  std::vector<HostWait> waits;  // by `from`
  std::vector<int64_t> cuts;    // when calls submitted what they launched, ascending
};

// A node that began when a wait had ended.
struct Waiter {
  uint32_t node = 0;
  const HostWait* wait = nullptr;
};

// Adds the nodes of all threads and their edges along each thread. `marks`: by thread; it must outlive the
// result. Edges to what the threads waited for are left to the caller.
std::vector<Waiter> EmitHost(const DeviceTrace& device, const HostThreads& host, const OwnWork& own_work,
                             const std::vector<ThreadMarks>& marks, TimelineDraft* draft);

}  // namespace chakra::pytorch
