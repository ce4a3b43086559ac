// A queue of the ends of transfers, the earliest first. One new flow may move thousands of ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/fluid/event_queue.h"
#include "trace/base/units.h"

namespace chakra {

// A 4-ary heap that knows the position of each item. Items are small numbers. Among equal times, the lower
// order comes first.
class EndQueue {
 public:
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  Time at() const { return heap_.front().at; }
  uint64_t order() const { return heap_.front().order; }
  uint32_t item() const { return heap_.front().item; }

  // Calls f(item) for those items of which one must end next after item().
  template <typename F>
  void ForEachSoon(F f) const {
    for (size_t i = 1; i < std::min<size_t>(5, heap_.size()); ++i) f(heap_[i].item);
  }
  // The end of an item; Never() if the item is not in the queue.
  Time at(uint32_t item) const {
    return item < place_.size() && place_[item] != kNone ? heap_[place_[item]].at : Time::Never();
  }
  // Adds or moves an item.
  void Set(uint32_t item, Time at, uint64_t order) {
    const uint32_t place = Place(item, at, order);
    if (!Up(place)) Down(place);
  }
  // As Set(), but without restoring the heap: Restore() must follow before any query. Cheaper if many items
  // move.
  void SetLoosely(uint32_t item, Time at, uint64_t order) { Place(item, at, order); }
  void Restore() {
    for (size_t i = heap_.size() / 4 + 1; i > 0; --i) {
      if (i - 1 < heap_.size()) Down(static_cast<uint32_t>(i - 1));
    }
  }
  // Removes all items that end at at(), and appends their (order, item) in no particular order.
  void TakeFirst(std::vector<EventQueue::Event>* ends) {
    const Time first = at();
    taken_.assign(1, 0);
    for (size_t i = 0; i < taken_.size(); ++i) {
      const Entry& e = heap_[taken_[i]];
      ends->push_back({e.order, e.item});
      for (size_t c = 4 * size_t{taken_[i]} + 1;
           c < std::min<size_t>(4 * size_t{taken_[i]} + 5, heap_.size()); ++c) {
        if (heap_[c].at == first) taken_.push_back(static_cast<uint32_t>(c));
      }
    }
    if (taken_.size() * 8 < heap_.size()) {
      for (size_t i = ends->size() - taken_.size(); i < ends->size(); ++i) Remove((*ends)[i].item);
      return;
    }
    for (const uint32_t place : taken_) place_[heap_[place].item] = kNone;
    size_t kept = 0;
    for (size_t i = 0; i < heap_.size(); ++i) {
      if (heap_[i].at != first) Put(heap_[i], static_cast<uint32_t>(kept++));
    }
    heap_.resize(kept);
    Restore();
  }
  // No-op if the item is not in the queue.
  void Remove(uint32_t item) {
    if (item >= place_.size() || place_[item] == kNone) return;
    const uint32_t place = place_[item];
    place_[item] = kNone;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (place == heap_.size()) return;
    heap_[place] = last;
    place_[last.item] = place;
    if (!Up(place)) Down(place);
  }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Entry {
    Time at;
    uint64_t order;
    uint32_t item;
    bool Before(const Entry& o) const { return at != o.at ? at < o.at : order < o.order; }
  };

  uint32_t Place(uint32_t item, Time at, uint64_t order) {
    if (item >= place_.size()) place_.resize(item + 1, kNone);
    uint32_t& place = place_[item];
    if (place == kNone) {
      place = static_cast<uint32_t>(heap_.size());
      heap_.push_back({at, order, item});
    } else {
      heap_[place].at = at;
      heap_[place].order = order;
    }
    return place;
  }
  void Put(const Entry& e, uint32_t place) {
    heap_[place] = e;
    place_[e.item] = place;
  }
  bool Up(uint32_t place) {
    const Entry e = heap_[place];
    const uint32_t begin = place;
    while (place > 0) {
      const uint32_t parent = (place - 1) / 4;
      if (!e.Before(heap_[parent])) break;
      Put(heap_[parent], place);
      place = parent;
    }
    if (place == begin) return false;
    Put(e, place);
    return true;
  }
  void Down(uint32_t place) {
    const Entry e = heap_[place];
    const size_t n = heap_.size();
    for (;;) {
      const size_t first = 4 * size_t{place} + 1;
      if (first >= n) break;
      const size_t end = first + 4 < n ? first + 4 : n;
      size_t least = first;
      for (size_t c = first + 1; c < end; ++c) {
        if (heap_[c].Before(heap_[least])) least = c;
      }
      if (!heap_[least].Before(e)) break;
      Put(heap_[least], place);
      place = static_cast<uint32_t>(least);
    }
    Put(e, place);
  }

  std::vector<Entry> heap_;
  std::vector<uint32_t> place_;  // by item
  std::vector<uint32_t> taken_;
};

}  // namespace chakra
