// A column of times, which may be narrow: recordings have whole nanoseconds, and most of them are short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "trace/base/units.h"
#include "trace/model/column.h"

namespace chakra {

// Reads like a const std::vector<Time>, but gives values, not references. A copy shares the values.
template <>
class Column<Time> {
 public:
  using value_type = Time;
  class const_iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = Time;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Time;
    const_iterator() = default;
    const_iterator(const Column* column, size_t i) : column_(column), i_(i) {}
    Time operator*() const { return (*column_)[i_]; }
    const_iterator& operator++() { return ++i_, *this; }
    const_iterator operator++(int) { return {column_, i_++}; }
    const_iterator& operator--() { return --i_, *this; }
    const_iterator& operator+=(difference_type n) { return i_ += static_cast<size_t>(n), *this; }
    friend const_iterator operator+(const_iterator a, difference_type n) { return a += n; }
    friend difference_type operator-(const const_iterator& a, const const_iterator& b) {
      return static_cast<difference_type>(a.i_ - b.i_);
    }
    friend bool operator==(const const_iterator& a, const const_iterator& b) { return a.i_ == b.i_; }
    friend bool operator<(const const_iterator& a, const const_iterator& b) { return a.i_ < b.i_; }

   private:
    const Column* column_ = nullptr;
    size_t i_ = 0;
  };

  Column() = default;
  Column(std::vector<Time> values);  // NOLINT: a vector is a column
  // The same values in less memory, if they are such that this is possible.
  static Column Narrow(const std::vector<Time>& values);

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Time operator[](size_t i) const {
    if (plain_ != nullptr) return plain_[i];
    const uint32_t v = narrow_[i];
    return v == kElsewhere ? Elsewhere(i) : Time::Picos(base_[i / kBlock] + int64_t{v} * kUnit);
  }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size_}; }
  // The values in memory; null: the column is narrow.
  const Time* plain() const { return plain_; }
  std::vector<Time> ToVector() const { return {begin(), end()}; }

  // Whether both are the same values in memory.
  bool Shares(const Column& o) const {
    return size_ == o.size_ && plain_ == o.plain_ && narrow_ == o.narrow_;
  }
  friend bool operator==(const Column& a, const Column& b);

 private:
  static constexpr uint32_t kElsewhere = 0xffffffff;
  static constexpr size_t kBlock = 256;
  static constexpr int64_t kUnit = 1000;  // ps
  // Blocks have a base each; values that are not whole units, or far from the least of their block, are
  // elsewhere, by row.
  struct Narrowed {
    std::vector<uint32_t> units;
    std::vector<int64_t> base;  // ps
    std::vector<std::pair<size_t, Time>> elsewhere;
  };
  Time Elsewhere(size_t i) const;

  const Time* plain_ = nullptr;
  const uint32_t* narrow_ = nullptr;
  const int64_t* base_ = nullptr;
  size_t size_ = 0;
  std::shared_ptr<const std::vector<Time>> keep_;
  std::shared_ptr<const Narrowed> narrowed_;
};

}  // namespace chakra
