// Progress of a run, and its interruption from Python.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>

#include "replay/engine/options.h"

namespace chakra::python {

// Create with the GIL. Work runs on a thread of its own. Meanwhile this thread checks for signals (Ctrl-C)
// and passes new progress to `progress` every kEvery, however long the work reports nothing. An exception
// from either stops the work.
class Watch {
 public:
  static constexpr std::chrono::milliseconds kEvery{50};  // time between checks

  // `progress`: None, or called with the finished share, the simulated seconds, the nodes that are done, and
  // all nodes.
  explicit Watch(pybind11::object progress) : progress_(std::move(progress)) {}

  // Runs `work` without the GIL, in a StopScope: it ends soon after stop() is set. Rethrows the exception
  // that stopped it, or that it threw.
  void Run(const std::function<void()>& work);

  // Reports progress. Called by the work, from any thread.
  void Tell(const Progress& progress);
  // Reports progress without simulated time.
  void Tell(double share, uint64_t done, uint64_t of);

  // For work that calls Python itself and so runs on the thread that created this object: checks for signals
  // and calls `progress`, if kEvery has passed.
  void Look();
  const std::atomic<bool>* stop() const { return &stop_; }
  // Call with the GIL after such work: passes on the last progress, and rethrows the exception that stopped
  // it.
  void End();

 private:
  struct News {
    double share = 0;
    std::optional<double> seconds;  // simulated
    uint64_t done = 0, of = 0;
  };

  void Note(const News& news);
  // Calls `progress` with the news since the last call. Needs the GIL.
  void PassOn();

  pybind11::object progress_;
  std::atomic<bool> stop_{false};
  std::exception_ptr raised_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kEvery;
  std::mutex mutex_;
  std::optional<News> news_;  // not passed on yet; guarded by mutex_
};

}  // namespace chakra::python
