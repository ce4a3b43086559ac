// Sorts many integers in linear time (radix sort).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace chakra {

// Returns the rows 0 to n - 1, sorted by key(row), an int64_t. The sort is stable.
template <typename Key>
std::vector<uint32_t> OrderByKey(size_t n, const Key& key) {
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  bool sorted = true;
  int64_t least = n == 0 ? 0 : key(0), most = least;
  for (uint32_t row = 1; row < n; ++row) {
    const int64_t k = key(row);
    sorted = sorted && k >= key(row - 1);
    least = std::min(least, k);
    most = std::max(most, k);
  }
  if (sorted) return order;
  struct Entry {
    uint64_t key;
    uint32_t row;
  };
  constexpr int kBits = 12;
  constexpr size_t kBuckets = size_t{1} << kBits;
  std::vector<Entry> from(n), to(n);
  const auto above = [&](int64_t k) { return static_cast<uint64_t>(k) - static_cast<uint64_t>(least); };
  for (uint32_t row = 0; row < n; ++row) from[row] = {above(key(row)), row};
  for (int shift = 0; shift < 64 && above(most) >> shift != 0; shift += kBits) {
    std::array<size_t, kBuckets> next{};
    for (const Entry& e : from) ++next[e.key >> shift & (kBuckets - 1)];
    size_t sum = 0;
    for (size_t& n_of : next) sum += std::exchange(n_of, sum);
    for (const Entry& e : from) to[next[e.key >> shift & (kBuckets - 1)]++] = e;
    from.swap(to);
  }
  for (size_t i = 0; i < n; ++i) order[i] = from[i].row;
  return order;
}

}  // namespace chakra
