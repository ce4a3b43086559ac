// What Python sees and says of a run on its way.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>

#include "replay/engine/options.h"

namespace chakra::python {

// Made with the GIL, told without it. Looks for signals (Ctrl-C) and calls `progress` a few times a second;
// what either raises stops the run.
class Watch {
 public:
  static constexpr std::chrono::milliseconds kEvery{50};  // how often it looks

  // `progress`: None, or called with the share that is done, the simulated seconds, and nodes done and in
  // all.
  explicit Watch(pybind11::object progress) : progress_(std::move(progress)) {}
  void Tell(const Progress& progress);
  // The same of a share alone, from any thread, one at a time.
  void Tell(uint64_t done, uint64_t of);
  // Looks for signals where it is time: whether something stopped the run. From any thread, one at a time.
  bool Stopped();
  const std::atomic<bool>* stop() const { return &stop_; }
  // With the GIL: raises what stopped the run.
  void Rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  // `call` with the GIL, where it is time.
  void Look(const std::function<void()>& call, bool last);

  pybind11::object progress_;
  std::atomic<bool> stop_{false};
  std::exception_ptr raised_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kEvery;
};

}  // namespace chakra::python
