// A time for each row. Recorded times stay in the memory of the graph's column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include "trace/base/units.h"
#include "trace/model/narrow_column.h"

namespace chakra {

// Reads and writes like a std::vector. Writing a time first copies all times, if they are in a column.
class RowTimes {
 public:
  using value_type = Time;
  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Time;
    using difference_type = std::ptrdiff_t;
    using pointer = const Time*;
    using reference = Time;
    const_iterator() = default;
    const_iterator(const RowTimes* times, size_t row) : times_(times), row_(row) {}
    Time operator*() const { return (*times_)[row_]; }
    const_iterator& operator++() { return ++row_, *this; }
    const_iterator operator++(int) { return {times_, row_++}; }
    friend bool operator==(const const_iterator& a, const const_iterator& b) { return a.row_ == b.row_; }

   private:
    const RowTimes* times_ = nullptr;
    size_t row_ = 0;
  };
  RowTimes() = default;
  RowTimes(std::vector<Time> times) : own_(std::move(times)) {}        // NOLINT: a vector is times
  RowTimes(NarrowColumn<Time> column) : column_(std::move(column)) {}  // NOLINT: a column is times
  RowTimes& operator=(std::initializer_list<Time> times) { return *this = std::vector<Time>(times); }

  size_t size() const { return column_.empty() ? own_.size() : column_.size(); }
  bool empty() const { return size() == 0; }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size()}; }
  Time operator[](size_t row) const { return column_.empty() ? own_[row] : column_[row]; }
  Time& operator[](size_t row) { return Own()[row]; }
  void resize(size_t rows) { Own().resize(rows); }
  void assign(size_t rows, Time time) { Own().assign(rows, time); }
  template <typename It>
  void assign(It begin, It end) {
    Own().assign(begin, end);
  }
  void push_back(Time time) { Own().push_back(time); }
  // The times as an array, valid until a time is written; null: they are in a narrow column.
  const Time* plain() const { return column_.empty() ? own_.data() : column_.plain(); }
  // Reads the `count` times from row `begin` on into `out`.
  void Read(size_t begin, size_t count, Time* out) const {
    if (column_.empty()) {
      std::copy_n(own_.data() + begin, count, out);
    } else {
      column_.Read(begin, count, out);
    }
  }
  std::vector<Time> ToVector() const { return column_.empty() ? own_ : column_.ToVector(); }
  friend bool operator==(const RowTimes& a, const RowTimes& b) { return a.ToVector() == b.ToVector(); }

 private:
  std::vector<Time>& Own() {
    if (!column_.empty()) {
      own_ = column_.ToVector();
      column_ = {};
    }
    return own_;
  }
  std::vector<Time> own_;
  NarrowColumn<Time> column_;  // empty: the times are in `own_`
};

}  // namespace chakra
