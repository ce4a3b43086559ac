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

// A call of the host; times in ns of the file's clock.
struct HostCall {
  int64_t begin = 0, end = 0;
  absl::string_view name;
  int64_t correlation = pytorch::kNone, step = -1;
  bool waits = false;  // whether it waits for the device
};

struct HostThreadCalls {
  int64_t id = 0;
  absl::string_view name;
  std::vector<HostCall> calls;
};

struct HostThreads {
  std::vector<HostThreadCalls> threads;
  uint64_t skipped = 0, damaged = 0;
  uint64_t before_start = 0;           // number of calls that FinishHostThreads() removed
  int64_t profiler_start = INT64_MIN;  // when jax.profiler.start_trace() returned
};

// Adds the lines of a plane "/host:CPU". Skips frames of Python and marks, except frames that wait for the
// device (block_until_ready). Counts events with impossible times as damaged. Errors name `file`.
absl::Status ReadHostThreads(const Plane& plane, const FileClock& clock, const std::string& file,
                             HostThreads* out);

// Removes calls that ended before the profiler had started: they do not belong to the job and may take
// seconds. Of waits inside each other, keeps only the outermost.
// Calls of HIP or CUDA have lines of their own ("Host Threads/7"). Such a line is joined to the thread whose
// calls enclose nearly all of its calls, if exactly one thread does.
void FinishHostThreads(HostThreads* host);

}  // namespace chakra::xplane
