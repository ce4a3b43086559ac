// Sorts the events of a device trace.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "trace/import/capture/capture.h"

namespace chakra::pytorch {

// Whether `a` comes first: it begins earlier, or begins at the same time and is longer.
inline bool ComesBefore(const Event& a, const Event& b) { return a.ts != b.ts ? a.ts < b.ts : a.dur > b.dur; }

// Fills `order` with its rows 0, 1, ... sorted stably by `before(a, b)`, if the rows consist of at most 64
// runs that are already sorted: files interleave a few such runs, one for each table or line. False: there
// are more runs. Merging them two by two would then pass over the rows more often than sorting does.
template <typename Before>
bool OrderByRuns(const Before& before, std::vector<uint32_t>* order) {
  constexpr size_t kMostRuns = 64;
  std::iota(order->begin(), order->end(), 0);
  std::vector<size_t> ends;
  for (size_t i = 1; i <= order->size(); ++i) {
    if (i < order->size() && !before(static_cast<uint32_t>(i), static_cast<uint32_t>(i - 1))) continue;
    if (ends.size() == kMostRuns) return false;
    ends.push_back(i);
  }
  std::vector<uint32_t> merged(ends.size() > 1 ? order->size() : 0);
  while (ends.size() > 1) {
    std::vector<size_t> next;
    size_t begin = 0;
    for (size_t r = 0; r < ends.size(); r += 2) {
      const auto at = [&](size_t i) { return order->begin() + static_cast<std::ptrdiff_t>(i); };
      const size_t end = r + 1 < ends.size() ? ends[r + 1] : ends[r];
      std::merge(at(begin), at(ends[r]), at(ends[r]), at(end),
                 merged.begin() + static_cast<std::ptrdiff_t>(begin), before);
      next.push_back(end);
      begin = end;
    }
    order->swap(merged);
    ends = std::move(next);
  }
  return true;
}

// Rows of the events sorted by begin, longer ones first, then by row.
std::vector<uint32_t> OrderOfEvents(const std::vector<Event>& events);

}  // namespace chakra::pytorch
