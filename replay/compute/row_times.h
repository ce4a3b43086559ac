// A time for each row, in the memory of a graph's column where these are the recorded ones.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "trace/base/units.h"
#include "trace/model/narrow_column.h"

namespace chakra {

// Reads and writes like a std::vector. A time that is written makes a copy of all, if they are in a column.
class RowTimes {
 public:
  RowTimes() = default;
  RowTimes(std::vector<Time> times) : own_(std::move(times)) {}           // NOLINT: a vector is times
  RowTimes(NarrowColumn<Time> column) : column_(std::move(column)) {}     // NOLINT: a column is times
  RowTimes& operator=(std::initializer_list<Time> times) { return *this = std::vector<Time>(times); }

  size_t size() const { return column_.empty() ? own_.size() : column_.size(); }
  bool empty() const { return size() == 0; }
  Time operator[](size_t row) const { return column_.empty() ? own_[row] : column_[row]; }
  Time& operator[](size_t row) { return Own()[row]; }
  void resize(size_t rows) { Own().resize(rows); }
  void assign(size_t rows, Time time) { Own().assign(rows, time); }
  template <typename It>
  void assign(It begin, It end) {
    Own().assign(begin, end);
  }
  void push_back(Time time) { Own().push_back(time); }
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
  NarrowColumn<Time> column_;  // empty: `own_` has them
};

}  // namespace chakra
