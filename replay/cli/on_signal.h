// Actions on signals.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>

namespace chakra::cli {

// While an object exists, SIGINT, SIGTERM and SIGHUP call `action` on the object's own thread, and then end
// the process as they would without it. Threads that are started meanwhile do not receive these signals. A
// signal that the process ignores stays ignored.
class OnSignal {
 public:
  explicit OnSignal(std::function<void()> action);
  ~OnSignal();
  OnSignal(const OnSignal&) = delete;
  OnSignal& operator=(const OnSignal&) = delete;

 private:
  void Wait();

  const std::function<void()> action_;
  sigset_t set_, before_;
  int stop_[2] = {-1, -1};  // a pipe
  int signals_ = -1;
  std::thread thread_;
};

// While an object exists, the first SIGINT or SIGTERM sets flag(). A further signal ends the process if it
// comes more than half a second later. Only one object may exist at a time.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  static const std::atomic<bool>* flag();

 private:
  void (*interrupt_)(int);
  void (*terminate_)(int);
};

}  // namespace chakra::cli
