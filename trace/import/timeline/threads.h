// The host threads of a capture: how calls nest, and when a thread was idle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/import/timeline/timeline.h"

namespace chakra::pytorch {

// An interval of ns since base.
struct Interval {
  int64_t begin = 0, end = 0;
};

// One host thread in its window.
struct HostThread {
  std::vector<uint32_t> events;  // rows of nested events, sorted by begin, callers first
  // Rows that overlap others without nesting: they began on this thread and ended on another one.
  std::vector<uint32_t> async;
  std::vector<Interval> busy;   // times with an open operator or runtime call; disjoint, ascending
  std::vector<int64_t> bounds;  // every begin and end of `events`, ascending
};

struct HostThreads {
  std::vector<HostThread> threads;  // by row of DeviceTrace::threads
  std::vector<uint32_t> parent;     // by event row: the enclosing event of the same thread, or kNoRow
  uint64_t clipped = 0;             // calls whose end rounding had put after the caller's end
  uint64_t late_rounds = 0;         // calls left out, see NestHostEvents()
  int64_t window_begin = 0, window_end = 0;

  // Begin and end of an event row, clipped to the window. An end is also clipped to the enclosing event.
  int64_t Begin(uint32_t row) const { return Clip((*events)[row].ts); }
  int64_t End(uint32_t row) const {
    if (!ends.empty()) {
      if (const auto it = ends.find(row); it != ends.end()) return it->second;
    }
    const Event& e = (*events)[row];
    return std::max(Clip(e.ts), Clip(e.ts + e.dur));
  }
  int64_t Clip(int64_t time) const {
    return std::clamp(time, window_begin, std::max(window_begin, window_end));
  }

  const std::vector<Event>* events = nullptr;   // of the trace, which must outlive this object
  absl::flat_hash_map<uint32_t, int64_t> ends;  // ends of the rows whose callers end earlier
};

// Whether a call only queries: the progress of a stream or an event, or an attribute.
bool IsQuery(absl::string_view name);

// Whether a worker thread of the host carries out this collective ("gloo:all_reduce"). Some profilers show
// such a collective on the thread that called it, where it overlaps the thread's own work.
bool IsHostCollective(const DeviceTrace& device, const Event& e);

// Nests host events. The window is that of `options`, or the span of the events. A thread that only queries
// the device (NCCL's watchdog) continues by a timer after the profiled work has ended, and nothing waits for
// it. Its calls that begin after the last other event are left out, and the window ends with that event.
HostThreads NestHostEvents(const DeviceTrace& device, const TimelineOptions& options);

}  // namespace chakra::pytorch
