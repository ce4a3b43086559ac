// What is to be done when a signal comes.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>

namespace chakra::cli {

// While it lives, SIGINT, SIGTERM and SIGHUP call `action` on a thread of its own, and then end the process
// as they would have. Threads that are started meanwhile leave these signals to it. A signal that the process
// ignores stays ignored.
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

// While an object lives, the first SIGINT or SIGTERM sets flag(), and the next one that comes more than half a
// second later ends the process. One object at a time.
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
