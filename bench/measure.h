// Shared functions of the benchmarks: readings of the clock and medians.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "trace/base/median.h"

namespace chakra {

// Seconds of `clock` that `work()` took.
template <typename Work>
double SecondsOf(clockid_t clock, Work&& work) {
  const auto now = [clock] {
    timespec t;
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  };
  const double begin = now();
  std::forward<Work>(work)();
  return now() - begin;
}

// Seconds that the calling thread computed, without the time of others on the
// core, so that a ratio is stable on a busy machine.
template <typename Work>
double SecondsOf(Work&& work) {
  return SecondsOf(CLOCK_THREAD_CPUTIME_ID, std::forward<Work>(work));
}

// Seconds on the wall.
template <typename Work>
double WallSecondsOf(Work&& work) {
  return SecondsOf(CLOCK_MONOTONIC, std::forward<Work>(work));
}

}  // namespace chakra
