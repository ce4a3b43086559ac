// What the benchmarks share: wall clock readings and medians.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace chakra {

// Seconds of wall clock that `work()` took.
template <typename Work>
double SecondsOf(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  std::forward<Work>(work)();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Precondition: not empty. The upper one of an even number.
inline double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace chakra
