// Lets a caller stop a long read: the threads that read check a flag.
#pragma once

#include <atomic>
#include <utility>

#include "absl/status/status.h"

namespace chakra {

namespace internal {
inline thread_local const std::atomic<bool>* stop_flag = nullptr;
}  // namespace internal

// Makes `flag` (may be null) the stop flag of this thread while the scope lives. ForEach() passes its
// caller's flag on to its threads. Not owned.
class StopScope {
 public:
  explicit StopScope(const std::atomic<bool>* flag) : before_(std::exchange(internal::stop_flag, flag)) {}
  ~StopScope() { internal::stop_flag = before_; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const std::atomic<bool>* before_;
};

inline const std::atomic<bool>* StopFlag() { return internal::stop_flag; }
inline bool StopRequested() {
  return internal::stop_flag != nullptr && internal::stop_flag->load(std::memory_order_relaxed);
}

// Returns a Cancelled error once the scope's flag is set.
inline absl::Status CheckStop() {
  return StopRequested() ? absl::CancelledError("reading was cancelled") : absl::OkStatus();
}

}  // namespace chakra
