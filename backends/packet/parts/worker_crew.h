// Threads that repeat the same tasks in rounds, with the help of the caller.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace chakra::packet {

// In each round every task is done once, on any thread. A waiting thread sleeps after a short time. In every
// round each thread tries the same tasks first, because their data is in its cache.
class WorkerCrew {
 public:
  // `task` is called with 0 to tasks - 1. `workers` (at least 1) does not include the caller.
  WorkerCrew(int workers, uint32_t tasks, std::function<void(uint32_t)> task);
  ~WorkerCrew();
  WorkerCrew(const WorkerCrew&) = delete;
  WorkerCrew& operator=(const WorkerCrew&) = delete;

  // Workers begin a round; they see everything that the caller did before.
  void Begin();
  // Does the tasks that no worker has begun and waits for the others; the caller then sees everything that
  // workers did. Must follow Begin().
  void Finish();

 private:
  struct alignas(64) Claim {
    std::atomic<uint32_t> round{0};  // the last round in which a thread took this task
  };
  void Work(uint32_t first);
  void Try(uint32_t task, uint32_t round);

  const uint32_t tasks_;
  const std::function<void(uint32_t)> task_;
  std::vector<Claim> claims_;
  alignas(64) std::atomic<uint32_t> round_{0};
  std::atomic<bool> stop_{false};
  alignas(64) std::atomic<uint32_t> done_{0};  // finished tasks of all rounds
  uint32_t expected_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace chakra::packet
