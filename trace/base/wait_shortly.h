// Waits for what another thread does soon: to fall asleep and to be woken would take longer.
#pragma once

#include <thread>

namespace chakra {

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Until `done()`, or false: not soon.
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
