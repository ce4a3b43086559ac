// The threads of the host in a profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/import/xplane/timelines.h"
#include "trace/import/xplane/xspace.h"

namespace chakra::xplane {

// A call of the host; ns by the file's clock.
struct HostCall {
  int64_t begin = 0, end = 0;
  absl::string_view name;
  int64_t correlation = pytorch::kNone, step = -1;
  bool waits = false;  // for the device
};

struct HostThreadCalls {
  int64_t id = 0;
  absl::string_view name;
  std::vector<HostCall> calls;
};

struct HostThreads {
  std::vector<HostThreadCalls> threads;
  uint64_t skipped = 0, damaged = 0;
  uint64_t before_start = 0;           // calls that FinishHostThreads() left out
  int64_t profiler_start = INT64_MIN;  // when jax.profiler.start_trace() returned
};

// Adds the lines of a plane "/host:CPU". Frames of Python and marks are skipped, but for frames that wait for
// the device (block_until_ready); events with impossible times are counted as damaged. Errors name `file`.
absl::Status ReadHostThreads(const Plane& plane, const FileClock& clock, const std::string& file,
                             HostThreads* out);

// Leaves out what ended before the profiler had started, which is no part of the job and may take seconds.
// Of waits inside each other only the outer one stays.
// Calls of HIP or CUDA lie on lines of their own ("Host Threads/7"): such a line becomes part of the thread
// inside whose calls nearly all of its calls lie, if there is but one.
void FinishHostThreads(HostThreads* host);

}  // namespace chakra::xplane
