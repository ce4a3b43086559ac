// Independent tasks on a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "trace/base/stop.h"

namespace chakra {

// The error of the first task that failed, by position, whatever order the tasks ran in.
inline absl::Status FirstError(const std::vector<absl::Status>& all) {
  for (const absl::Status& s : all) {
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

// The number of threads for `tasks` tasks: `threads`, but at least 1, at most 256 and at most one for each
// task.
inline int ThreadCount(int threads, size_t tasks) {
  return static_cast<int>(
      std::max<size_t>(1, std::min<size_t>({static_cast<size_t>(std::max(1, threads)), tasks, 256})));
}

// Runs tasks 0 to n - 1. Each thread calls make() once; make() returns a function, which may own the thread's
// tools, and the thread calls this function with the number of each task. Threads take tasks in order, so
// every task before a failed one runs to its end. Returns the error of the first failed task by position; a
// task that was not begun since the caller's StopScope says stop has failed.
template <typename Make>
absl::Status ForEach(size_t n, int threads, const Make& make) {
  std::vector<absl::Status> status(n);
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  const std::atomic<bool>* const stop = StopFlag();
  const auto run = [&] {
    const StopScope scope(stop);
    auto work = make();
    while (!failed) {
      const size_t i = next++;
      if (i >= n) return;
      status[i] = CheckStop();
      if (status[i].ok()) status[i] = work(i);
      if (!status[i].ok()) failed = true;
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < ThreadCount(threads, n); ++t) others.emplace_back(run);
  run();
  for (std::thread& t : others) t.join();
  return FirstError(status);
}

}  // namespace chakra
