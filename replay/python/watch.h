// What Python sees and says of a run on its way.
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

// Made with the GIL. Work goes on a thread of its own, so that however long it says nothing, this one looks
// for signals (Ctrl-C) and calls `progress` a few times a second; what either raises stops the work.
class Watch {
 public:
  static constexpr std::chrono::milliseconds kEvery{50};  // how often it looks

  // `progress`: None, or called with the share that is done, the simulated seconds, and nodes done and in
  // all.
  explicit Watch(pybind11::object progress) : progress_(std::move(progress)) {}

  // Runs `work` without the GIL, with a StopScope; it ends soon after stop() is set. Raises what stopped it,
  // or what it raised.
  void Run(const std::function<void()>& work);

  // From the work, from any thread: how far it is.
  void Tell(const Progress& progress);
  // The same of a share alone.
  void Tell(double share, uint64_t done, uint64_t of);

  // For work that calls Python itself and so goes on the thread that made this: looks, where it is time.
  void Look();
  const std::atomic<bool>* stop() const { return &stop_; }
  // With the GIL, after such work: passes on what was told last, and raises what stopped the work.
  void End();

 private:
  struct News {
    double share = 0;
    std::optional<double> seconds;  // simulated
    uint64_t done = 0, of = 0;
  };

  void Note(const News& news);
  // Calls `progress` with what was noted since, with the GIL.
  void PassOn();

  pybind11::object progress_;
  std::atomic<bool> stop_{false};
  std::exception_ptr raised_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kEvery;
  std::mutex mutex_;
  std::optional<News> news_;  // that were not passed on; guarded by mutex_
};

}  // namespace chakra::python
