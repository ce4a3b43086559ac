#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace chakra::pytorch {

// The upper one of an even number; T() of none.
template <typename T>
T Median(std::vector<T> values) {
  if (values.empty()) return T();
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace chakra::pytorch
