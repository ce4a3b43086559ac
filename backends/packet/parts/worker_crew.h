// Threads that do the same tasks again and again, with the caller's help.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace chakra::packet {

// In each round all tasks are done once, on any thread. A thread that waits for the next round sleeps after a
// while; each takes the same tasks first in every round, for what they touch is in its cache.
class WorkerCrew {
 public:
  // `task` is called with 0 to tasks - 1. `workers` (at least 1) are beside the caller.
  WorkerCrew(int workers, uint32_t tasks, std::function<void(uint32_t)> task);
  ~WorkerCrew();
  WorkerCrew(const WorkerCrew&) = delete;
  WorkerCrew& operator=(const WorkerCrew&) = delete;

  // Workers begin a round: they see what the caller did before.
  void Begin();
  // Does what they have not begun and waits for the rest: the caller sees what they did. After Begin().
  void Finish();

 private:
  struct alignas(64) Claim {
    std::atomic<uint32_t> round{0};  // the last in which somebody took it
  };
  void Work(uint32_t first);
  void Try(uint32_t task, uint32_t round);

  const uint32_t tasks_;
  const std::function<void(uint32_t)> task_;
  std::vector<Claim> claims_;
  alignas(64) std::atomic<uint32_t> round_{0};
  std::atomic<bool> stop_{false};
  alignas(64) std::atomic<uint32_t> done_{0};  // tasks of all rounds
  uint32_t expected_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace chakra::packet
