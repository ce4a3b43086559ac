// Medians.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace chakra {

// Returns the median; for an even number of values, the upper one of the two middle values. T() if there are
// none.
template <typename T>
T UpperMedian(std::vector<T> values) {
  if (values.empty()) return T();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns the median; for an even number of values, the lower one of the two middle values. T() if there are
// none.
template <typename T>
T LowerMedian(std::vector<T> values) {
  if (values.empty()) return T();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns the median; for an even number of values, the midpoint of the two middle values. For integers, the
// midpoint is rounded towards the lower one. T() if there are none.
template <typename T>
T Median(std::vector<T> values) {
  if (values.empty()) return T();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

}  // namespace chakra
