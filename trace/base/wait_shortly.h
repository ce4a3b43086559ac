// Waits for an event that another thread causes soon, without sleeping: to sleep and wake up would take
// longer.
#pragma once

#include <thread>

namespace chakra {

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Waits until `done()` is true. Returns false if that takes too long.
template <typename Done>
bool WaitShortly(const Done& done) {
  constexpr int kSpins = 2000, kYields = 200;
  for (int i = 0; i < kSpins; ++i) {
    if (done()) return true;
    Pause();
  }
  for (int i = 0; i < kYields; ++i) {
    if (done()) return true;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace chakra
