// Makes the nodes of a capture's host threads: the stretches of calls between their callees, and the thread's
// own work between calls.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/timeline/own_work.h"
#include "trace/import/timeline/threads.h"
#include "trace/import/timeline/timeline.h"
#include "trace/import/timeline/timeline_draft.h"

namespace chakra::pytorch {

// A wait of a host thread, and the reason why the thread continued at `until`. No event of the thread begins
// or ends inside a wait.
struct HostWait {
  int64_t from = 0, until = 0;
  uint32_t call = kNoRow;  // the runtime call that waits; kNoRow: the thread was idle
  EdgeKind kind = EdgeKind::kSync;
  std::vector<uint32_t> device;  // sources: device operations,
  uint32_t event = kNoRow;       // or an event of this thread that is not in its order,
  uint32_t thread = kNoRow;      // or an event of this other thread, which begins or ends at `time`
  int64_t time = 0;              // only with `thread`
};

struct ThreadMarks {
  std::vector<HostWait> waits;  // sorted by `from`
  std::vector<int64_t> cuts;    // times at which calls submitted what they launched, ascending
};

// A node that began after a wait.
struct Waiter {
  uint32_t node = 0;
  const HostWait* wait = nullptr;
};

// Adds the nodes of all threads, and the edges along each thread. `marks`: by thread; must outlive the
// result. The caller adds the edges to the sources of the waits.
std::vector<Waiter> EmitHost(const DeviceTrace& device, const HostThreads& host, const OwnWork& own_work,
                             const std::vector<ThreadMarks>& marks, TimelineDraft* draft);

}  // namespace chakra::pytorch
