// The host's threads of a capture: which call encloses which, when a thread
// was idle, and for whom it waited then.
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
  std::vector<uint32_t> events;  // rows that nest, in order of begin, callers first
  std::vector<uint32_t> async;   // rows that overlap others without nesting: begun here, ended elsewhere
  std::vector<Interval> busy;    // where an operator or a runtime call is open; disjoint, ascending
  std::vector<int64_t> bounds;   // every begin and end of `events`, ascending
};

struct HostThreads {
  std::vector<HostThread> threads;  // by row of DeviceTrace::threads
  std::vector<uint32_t> parent;     // by event row: the enclosing event of the same thread; kNoRow
  std::vector<int64_t> begin, end;  // by event row: clipped to the window and to the enclosing event
  uint64_t clipped = 0;             // ends that were past their caller's by rounding
  int64_t window_begin = 0, window_end = 0;
};

// A collective that a worker of the host carries out ("gloo:all_reduce"). Some
// profilers show it on the thread that asked for it, where it overlaps that
// thread's own work.
bool IsHostCollective(const DeviceTrace& device, const Event& e);

// Of host events only; the window is options', or what the events span.
HostThreads NestHostEvents(const DeviceTrace& device, const TimelineOptions& options);

// `thread` was idle and went on because of something on another thread.
struct ThreadWait {
  uint32_t thread = 0;
  int64_t from = 0, until = 0;  // the waiting itself; holds no bound of the thread
  uint32_t source = 0;          // the other thread
  int64_t source_time = 0;      // a bound of the other thread, <= until
  EdgeKind kind = EdgeKind::kWakeUp;
};

// Idle times longer than kMinIdleNs in which another thread was busy for at
// least half of the time, and did something last before they ended: that is
// what ended them. The first thing on a thread counts as after an idle time.
inline constexpr int64_t kMinIdleNs = 20000;
std::vector<ThreadWait> FindThreadWaits(const DeviceTrace& device, const HostThreads& host);

}  // namespace chakra::pytorch
