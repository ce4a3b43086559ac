// The host's threads of a capture: how calls nest, when a thread was idle, and which thread it waited for.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/import/pytorch/capture.h"
#include "trace/import/pytorch/timeline.h"

namespace chakra::pytorch {

// An interval of ns since base.
struct Interval {
  int64_t begin = 0, end = 0;
};

// One host thread in its window.
struct HostThread {
  std::vector<uint32_t> events;  // rows of nested events, by begin, callers first
  std::vector<uint32_t> async;   // rows that overlap others without nesting: they began on this thread and
                                 // ended on another
  std::vector<Interval> busy;    // times with an open operator or runtime call; disjoint, ascending
  std::vector<int64_t> bounds;   // every begin and end of `events`, ascending
};

struct HostThreads {
  std::vector<HostThread> threads;  // by row of DeviceTrace::threads
  std::vector<uint32_t> parent;     // by event row: the enclosing event of the same thread; kNoRow
  std::vector<int64_t> begin, end;  // by event row: clipped to the window and to the enclosing event
  uint64_t clipped = 0;             // ends that rounding put after the caller's end
  int64_t window_begin = 0, window_end = 0;
};

// Whether a worker of the host carries out this collective ("gloo:all_reduce"). Some profilers show such a
// collective on the thread that called it, where it overlaps the thread's own work.
bool IsHostCollective(const DeviceTrace& device, const Event& e);

// Nests host events. The window is that of `options`, or the span of the events.
HostThreads NestHostEvents(const DeviceTrace& device, const TimelineOptions& options);

// `thread` was idle and went on because of something on another thread.
struct ThreadWait {
  uint32_t thread = 0;
  int64_t from = 0, until = 0;  // the waiting; no bound of the thread lies inside
  uint32_t source = 0;          // the other thread
  int64_t source_time = 0;      // a bound of the other thread, <= until
  EdgeKind kind = EdgeKind::kWakeUp;
};

// Finds idle times longer than kMinIdleNs in which another thread was busy for at least half of the time: the
// last bound of the other thread before the idle time ended is taken for what ended it. The first event of a
// thread counts as one after an idle time.
inline constexpr int64_t kMinIdleNs = 20000;
std::vector<ThreadWait> FindThreadWaits(const DeviceTrace& device, const HostThreads& host);

}  // namespace chakra::pytorch
