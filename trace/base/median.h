// Medians.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace chakra {

// Of an even number of values the upper one of the two in the middle; T() of none.
template <typename T>
T UpperMedian(std::vector<T> values) {
  if (values.empty()) return T();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Of an even number of values the lower one of the two in the middle; T() of none.
template <typename T>
T LowerMedian(std::vector<T> values) {
  if (values.empty()) return T();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Of an even number of values what lies half-way between the two in the middle: of whole numbers the nearest
// one towards the lower of them. T() of none.
template <typename T>
T Median(std::vector<T> values) {
  if (values.empty()) return T();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

}  // namespace chakra
