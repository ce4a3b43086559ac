// Columns whose values may take half of their memory: recordings have whole nanoseconds, most of them short,
// and few texts.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "trace/base/units.h"
#include "trace/model/column.h"

namespace chakra {

// How values of a type become narrow: a block of values has a base, the least of them, and each value is told
// as so many units above. Numbers are unsigned, and wrap around.
template <typename T>
struct Narrowing;
template <>
struct Narrowing<Time> {
  using Above = uint32_t;
  static constexpr uint64_t kUnit = 1000;  // ps
  static constexpr Time kNone = Time::Never();
  static uint64_t Number(Time t) { return static_cast<uint64_t>(t.picos()); }
  static Time Value(uint64_t n) { return Time::Picos(static_cast<int64_t>(n)); }
};
template <>
struct Narrowing<uint32_t> {
  using Above = uint16_t;
  static constexpr uint64_t kUnit = 1;
  static constexpr uint32_t kNone = 0xffffffff;
  static uint64_t Number(uint32_t v) { return v; }
  static uint32_t Value(uint64_t n) { return static_cast<uint32_t>(n); }
};

// Reads like a const std::vector, but gives values, not references. A copy shares the values.
template <typename T>
class NarrowColumn {
 public:
  using value_type = T;
  class const_iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = T;
    const_iterator() = default;
    const_iterator(const NarrowColumn* column, size_t i) : column_(column), i_(i) {}
    T operator*() const { return (*column_)[i_]; }
    const_iterator& operator++() { return ++i_, *this; }
    const_iterator operator++(int) { return {column_, i_++}; }
    const_iterator& operator--() { return --i_, *this; }
    const_iterator operator--(int) { return {column_, i_--}; }
    T operator[](difference_type n) const { return (*column_)[i_ + static_cast<size_t>(n)]; }
    const_iterator& operator+=(difference_type n) { return i_ += static_cast<size_t>(n), *this; }
    const_iterator& operator-=(difference_type n) { return i_ -= static_cast<size_t>(n), *this; }
    friend const_iterator operator+(const_iterator a, difference_type n) { return a += n; }
    friend const_iterator operator+(difference_type n, const_iterator a) { return a += n; }
    friend const_iterator operator-(const_iterator a, difference_type n) { return a -= n; }
    friend difference_type operator-(const const_iterator& a, const const_iterator& b) {
      return static_cast<difference_type>(a.i_ - b.i_);
    }
    friend bool operator==(const const_iterator& a, const const_iterator& b) { return a.i_ == b.i_; }
    friend auto operator<=>(const const_iterator& a, const const_iterator& b) { return a.i_ <=> b.i_; }

   private:
    const NarrowColumn* column_ = nullptr;
    size_t i_ = 0;
  };

  NarrowColumn() = default;
  NarrowColumn(std::vector<T> values);    // NOLINT: a vector is a column
  NarrowColumn(const Column<T>& values);  // NOLINT
  // The same values in less memory, if they are such that this is possible.
  static NarrowColumn Narrow(const std::vector<T>& values);

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T operator[](size_t i) const {
    if (plain_ != nullptr) return plain_[i];
    const Above above = above_[i];
    return above >= kNone ? Special(i) : By::Value(base_[i / kBlock] + above * By::kUnit);
  }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size_}; }
  // The values in memory; null: the column is narrow.
  const T* plain() const { return plain_; }
  std::vector<T> ToVector() const {
    std::vector<T> out;
    out.reserve(size_);
    for (size_t i = 0; i < size_; ++i) out.push_back((*this)[i]);
    return out;
  }

  // Whether both are the same values in memory.
  bool Shares(const NarrowColumn& o) const {
    return size_ == o.size_ && plain_ == o.plain_ && above_ == o.above_;
  }
  friend bool operator==(const NarrowColumn& a, const NarrowColumn& b) {
    if (a.Shares(b)) return true;
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i) {
      if (!(a[i] == b[i])) return false;
    }
    return true;
  }

 private:
  using By = Narrowing<T>;
  using Above = typename By::Above;
  static constexpr size_t kBlock = 256;
  // Values that are not whole units, or far above the least of their block, are elsewhere, by row.
  static constexpr Above kElsewhere = static_cast<Above>(-1), kNone = kElsewhere - 1;
  struct Narrowed {
    std::vector<Above> above;
    std::vector<uint64_t> base;
    std::vector<std::pair<size_t, T>> elsewhere;
  };
  T Special(size_t i) const;

  const T* plain_ = nullptr;
  const Above* above_ = nullptr;
  const uint64_t* base_ = nullptr;
  size_t size_ = 0;
  Column<T> keep_;
  std::shared_ptr<const Narrowed> narrowed_;
};

extern template class NarrowColumn<Time>;
extern template class NarrowColumn<uint32_t>;

}  // namespace chakra
