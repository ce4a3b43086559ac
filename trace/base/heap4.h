// A 4-ary min-heap. It is half as deep as a binary heap, and the children of an item share one or two cache
// lines.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace chakra {

// E has `bool Before(const E&) const`, a strict total order.
template <typename E>
class Heap4 {
 public:
  bool empty() const { return items_.empty(); }
  const E& top() const { return items_.front(); }
  size_t MemoryBytes() const { return items_.capacity() * sizeof(E); }

  // Small items are passed by value, in registers. Callers often write a referenced item in parts; a copy
  // that then reads the whole item at once would have to wait for these writes.
  using Item = std::conditional_t<sizeof(E) <= 2 * sizeof(void*), E, const E&>;
  void Push(Item e) {
    size_t i = items_.size();
    items_.push_back(e);
    while (i > 0) {
      const size_t parent = (i - 1) / 4;
      if (!e.Before(items_[parent])) break;
      items_[i] = items_[parent];
      i = parent;
    }
    items_[i] = e;
  }

  void Pop() {
    const E last = items_.back();
    items_.pop_back();
    const size_t n = items_.size();
    if (n == 0) return;
    size_t i = 0;
    for (;;) {
      const size_t first = 4 * i + 1;
      if (first >= n) break;
      const size_t end = first + 4 < n ? first + 4 : n;
      size_t least = first;
      for (size_t c = first + 1; c < end; ++c) {
        if (items_[c].Before(items_[least])) least = c;
      }
      if (!items_[least].Before(last)) break;
      items_[i] = items_[least];
      i = least;
    }
    items_[i] = last;
  }

 private:
  std::vector<E> items_;
};

}  // namespace chakra
