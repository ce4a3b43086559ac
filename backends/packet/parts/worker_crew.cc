#include "backends/packet/parts/worker_crew.h"

#include <utility>

#include "trace/base/parallel.h"
#include "trace/base/wait_shortly.h"

namespace chakra::packet {

WorkerCrew::WorkerCrew(int workers, uint32_t tasks, std::function<void(uint32_t)> task)
    : tasks_(tasks), task_(std::move(task)), claims_(tasks) {
  const auto n = static_cast<uint32_t>(workers);
  // If fewer threads can start, those that did, or the caller, do all tasks.
  StartThreads(
      workers, [this, n](int i) { Work(tasks_ * static_cast<uint32_t>(i) / n); }, &threads_);
}

WorkerCrew::~WorkerCrew() {
  stop_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void WorkerCrew::Begin() {
  expected_ += tasks_;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
}

// A round cannot end before each task taken in it is done, and only the thread that took a task reads
// anything else.
void WorkerCrew::Try(uint32_t task, uint32_t round) {
  uint32_t before = round - 1;
  if (!claims_[task].round.compare_exchange_strong(before, round, std::memory_order_relaxed)) return;
  task_(task);
  done_.fetch_add(1, std::memory_order_release);
}

// Workers try tasks downwards from `first`; the caller goes upwards from 0.
void WorkerCrew::Work(uint32_t first) {
  uint32_t seen = 0;
  for (;;) {
    const auto begun = [&] { return round_.load(std::memory_order_acquire) != seen; };
    if (!WaitShortly(begun)) round_.wait(seen, std::memory_order_acquire);
    seen = round_.load(std::memory_order_acquire);
    if (stop_.load(std::memory_order_relaxed)) return;
    for (uint32_t i = 0; i < tasks_; ++i) Try((first + tasks_ - 1 - i) % tasks_, seen);
  }
}

void WorkerCrew::Finish() {
  const uint32_t round = round_.load(std::memory_order_relaxed);
  for (uint32_t task = 0; task < tasks_; ++task) Try(task, round);
  const auto done = [&] { return done_.load(std::memory_order_acquire) == expected_; };
  while (!WaitShortly(done)) {
  }
}

}  // namespace chakra::packet
