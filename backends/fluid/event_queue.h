// A queue of events by instant, because collectives make thousands of events at one instant.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/base/heap4.h"
#include "trace/base/units.h"

namespace chakra {

// Each instant has a list of events. The queue may have an instant twice, if the instant had left recent_
// before the second list began.
class EventQueue {
 public:
  struct Event {
    uint64_t order;  // order among the events of an instant
    uint32_t item;
    bool operator<(const Event& o) const { return order < o.order; }
  };

  EventQueue() : recent_(kRecent) {}
  bool empty() const { return heap_.empty(); }
  Time at() const { return heap_.top().at; }

  void Post(Time at, uint64_t order, uint32_t item) {
    Recent& recent = RecentOf(at);
    if (recent.at != at) {
      recent.at = at;
      if (unused_.empty()) {
        recent.list = static_cast<uint32_t>(lists_.size());
        lists_.emplace_back();
      } else {
        recent.list = unused_.back();
        unused_.pop_back();
      }
      heap_.Push({at, recent.list});
    }
    lists_[recent.list].push_back({order, item});
  }

  // Removes the events of the earliest instant, which is `at`, and appends them in no particular order.
  void Take(Time at, std::vector<Event>* events) {
    while (!heap_.empty() && heap_.top().at == at) {
      const uint32_t list = heap_.top().list;
      heap_.Pop();
      events->insert(events->end(), lists_[list].begin(), lists_[list].end());
      lists_[list].clear();
      unused_.push_back(list);
    }
    Recent& recent = RecentOf(at);
    if (recent.at == at) recent.at = Time::Never();
  }

 private:
  static constexpr size_t kRecent = 1024;  // 2^10
  struct Instant {
    Time at;
    uint32_t list;
    bool Before(const Instant& o) const { return at != o.at ? at < o.at : list < o.list; }
  };
  struct Recent {
    Time at = Time::Never();
    uint32_t list = 0;
  };
  Recent& RecentOf(Time t) { return recent_[static_cast<uint64_t>(t.picos()) * 0x9e3779b97f4a7c15u >> 54]; }

  Heap4<Instant> heap_;
  std::vector<std::vector<Event>> lists_;
  std::vector<uint32_t> unused_;
  std::vector<Recent> recent_;
};

}  // namespace chakra
