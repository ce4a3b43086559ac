// Reports of flows that have left their source, to be made when they have arrived.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/base/heap4.h"
#include "trace/base/units.h"

namespace chakra {

// Thousands of paths have the same latency. Flows with the same latency arrive in the order in which they
// leave, so each of the first latencies has a line that needs no search. All other flows are in a heap.
class TellQueue {
 public:
  struct Tell {
    Time at;
    uint64_t order;  // order among the reports of an instant
    uint64_t tag;
    bool Before(const Tell& o) const { return at != o.at ? at < o.at : order < o.order; }
  };

  bool empty() const { return next_ == Time::Never(); }
  // The earliest instant; Never() if there is none.
  Time at() const { return next_; }

  // Adds a report for `delay` after `now`; `now` must not be earlier than in any call before.
  void Add(Time now, Time delay, uint64_t order, uint64_t tag) {
    const Tell tell = {now + delay, order, tag};
    if (tell.at == Time::Never()) return;
    next_ = std::min(next_, tell.at);
    size_t l = 0;
    while (l < lines_.size() && lines_[l].delay != delay) ++l;
    if (l == kLines) return heap_.Push(tell);
    if (l == lines_.size()) lines_.push_back({delay, {}});
    lines_[l].tells.push_back(tell);
  }

  // Removes all reports of the earliest instant, and calls f(order, tag) for each, in no particular order.
  template <typename F>
  void Take(F f) {
    const Time at = next_;
    next_ = Time::Never();
    for (Line& line : lines_) {
      while (line.first < line.tells.size() && line.tells[line.first].at == at) {
        f(line.tells[line.first].order, line.tells[line.first].tag);
        ++line.first;
      }
      if (line.first * 2 >= line.tells.size()) {
        line.tells.erase(line.tells.begin(), line.tells.begin() + static_cast<std::ptrdiff_t>(line.first));
        line.first = 0;
      }
      if (!line.tells.empty()) next_ = std::min(next_, line.tells[line.first].at);
    }
    while (!heap_.empty() && heap_.top().at == at) {
      f(heap_.top().order, heap_.top().tag);
      heap_.Pop();
    }
    if (!heap_.empty()) next_ = std::min(next_, heap_.top().at);
  }

 private:
  static constexpr size_t kLines = 16;
  struct Line {
    Time delay;
    std::vector<Tell> tells;  // from `first` on
    size_t first = 0;
  };

  std::vector<Line> lines_;
  Heap4<Tell> heap_;
  Time next_ = Time::Never();
};

}  // namespace chakra
