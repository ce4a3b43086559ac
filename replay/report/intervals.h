// Intervals of time in which something ran.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace chakra {

// (begin, end) pairs in picoseconds.
using Intervals = std::vector<std::pair<int64_t, int64_t>>;

// Sorts the intervals and joins those that overlap or touch. Returns the sum of their lengths.
inline int64_t Join(Intervals* intervals) {
  std::sort(intervals->begin(), intervals->end());
  size_t kept = 0;
  int64_t sum = 0;
  for (const auto& [begin, end] : *intervals) {
    if (kept > 0 && begin <= (*intervals)[kept - 1].second) {
      (*intervals)[kept - 1].second = std::max((*intervals)[kept - 1].second, end);
    } else {
      (*intervals)[kept++] = {begin, end};
    }
  }
  intervals->resize(kept);
  for (const auto& [begin, end] : *intervals) sum += end - begin;
  return sum;
}

}  // namespace chakra
