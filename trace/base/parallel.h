// Runs independent tasks on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "trace/base/stop.h"

namespace chakra {

// Returns the error of the first task, by position, that failed; the order in which the tasks ran does not
// matter.
inline absl::Status FirstError(const std::vector<absl::Status>& all) {
  for (const absl::Status& s : all) {
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

// The number of threads for `tasks` tasks: `threads`, but at least 1, at most 256, and at most one for each
// task.
inline int ThreadCount(int threads, size_t tasks) {
  return static_cast<int>(
      std::max<size_t>(1, std::min<size_t>({static_cast<size_t>(std::max(1, threads)), tasks, 256})));
}

// Starts threads that run f(1) to f(n). Starts fewer if the system has no more threads or no memory for them;
// a caller that needs a certain number checks the size of `threads`.
template <typename F>
void StartThreads(int n, const F& f, std::vector<std::thread>* threads) {
  try {
    threads->reserve(static_cast<size_t>(std::max(n, 0)));
    for (int i = 1; i <= n; ++i) threads->emplace_back(f, i);
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
}

// Runs tasks 0 to n - 1. Each thread calls make() once. make() returns a function, which may own the thread's
// buffers; the thread calls this function with the number of each of its tasks. Threads claim tasks in order,
// so every task before a failed one runs to its end. Returns the error of the first failed task by position.
// A task that was not started because the caller's StopScope requested a stop counts as failed. If a thread
// runs out of memory, the caller gets std::bad_alloc after all threads have ended.
template <typename Make>
absl::Status ForEach(size_t n, int threads, const Make& make) {
  std::vector<absl::Status> status(n);
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  const std::atomic<bool>* const stop = StopFlag();
  std::atomic<bool> no_memory = false;
  const auto run = [&](int) {
    try {
      const StopScope scope(stop);
      auto work = make();
      while (!failed) {
        const size_t i = next++;
        if (i >= n) return;
        status[i] = CheckStop();
        if (status[i].ok()) status[i] = work(i);
        if (!status[i].ok()) failed = true;
      }
    } catch (const std::bad_alloc&) {
      no_memory = failed = true;
    }
  };
  std::vector<std::thread> others;
  StartThreads(ThreadCount(threads, n) - 1, run, &others);
  run(0);
  for (std::thread& t : others) t.join();
  if (no_memory) throw std::bad_alloc();
  return FirstError(status);
}

}  // namespace chakra
