// What flows that have left will tell, when they have arrived.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/base/heap4.h"
#include "trace/base/units.h"

namespace chakra {

// A path's latency is that of thousands of others. Of one latency, flows arrive in the order in which they
// leave: a line for each of the first latencies needs no search. All others are in a heap.
class TellQueue {
 public:
  struct Tell {
    Time at;
    uint64_t order;  // among those of an instant
    uint64_t tag;
    bool Before(const Tell& o) const { return at != o.at ? at < o.at : order < o.order; }
  };

  bool empty() const { return next_ == Time::Never(); }
  // The earliest instant; Never(): none.
  Time at() const { return next_; }

  // Adds what is told `delay` after `now`, which is no earlier than that of any call before.
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

  // Removes all of the earliest instant, and calls f(order, tag) for each, in no particular order.
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
