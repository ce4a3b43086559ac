// Columns whose values may need only a fraction of their memory. This suits recordings: their times are whole
// nanoseconds, mostly short; they have few distinct texts; and dependencies are on recent nodes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "trace/base/units.h"
#include "trace/model/column.h"

namespace chakra {

// How values of a type are made narrow. Each block of values has a base, its minimum. Each value is stored as
// a multiple of kUnit above the base, in as many bits as the values of the block need. Numbers are unsigned
// and wrap around. kNone is a special value that may be far from all others.
template <typename T>
struct Narrowing;
template <>
struct Narrowing<Time> {
  static constexpr uint64_t kUnit = 1000;  // ps
  static constexpr Time kNone = Time::Never();
  static uint64_t Number(Time t) { return static_cast<uint64_t>(t.picos()); }
  static Time Value(uint64_t n) { return Time::Picos(static_cast<int64_t>(n)); }
};
template <>
struct Narrowing<uint32_t> {
  static constexpr uint64_t kUnit = 1;
  static constexpr uint32_t kNone = 0xffffffff;
  static uint64_t Number(uint32_t v) { return v; }
  static uint32_t Value(uint64_t n) { return static_cast<uint32_t>(n); }
};
template <>
struct Narrowing<int32_t> {
  static constexpr uint64_t kUnit = 1;
  static constexpr int32_t kNone = INT32_MIN;
  static uint64_t Number(int32_t v) { return static_cast<uint64_t>(int64_t{v}); }
  static int32_t Value(uint64_t n) { return static_cast<int32_t>(n); }
};

// Can be read like a const std::vector, but returns values, not references. A copy shares the values.
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
  // Returns a column of the same values in less memory, if their values allow it.
  static NarrowColumn Narrow(const std::vector<T>& values);

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T operator[](size_t i) const {
    if (plain_ != nullptr) return plain_[i];
    const Block& block = blocks_[i / kBlock];
    const uint64_t above = BitsAt(block, i % kBlock);
    return above >= block.special ? Special(i) : By::Value(block.base + above * By::kUnit);
  }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size_}; }
  // Returns the values in memory; null: the column is narrow.
  const T* plain() const { return plain_; }
  std::vector<T> ToVector() const;
  // Copies `count` values from position `begin` on to `out`.
  void Read(size_t begin, size_t count, T* out) const;

  // Whether both columns are the same values in memory.
  bool Shares(const NarrowColumn& o) const {
    return size_ == o.size_ && plain_ == o.plain_ && blocks_ == o.blocks_;
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
  static constexpr size_t kBlock = 256;
  // The bits of the values of a block are contiguous. Their size is a whole number of groups of kGroup bytes.
  static constexpr size_t kGroup = kBlock / 8;
  // A block with special values reserves its two greatest codes for them. The greatest code denotes a value
  // that is stored elsewhere, because it is not a whole number of units or would need too many bits. The code
  // before it denotes kNone.
  struct Block {
    uint64_t base = 0;
    uint32_t group = 0;    // position of its bits, in groups
    uint32_t special = 0;  // codes from here on are special
    uint32_t first = 0;    // index of its first value in `elsewhere`
    uint8_t width = 0;     // bits of each value, at most kMostBits
  };
  static constexpr int kMostBits = 32;
  struct Narrowed {
    std::vector<Block> blocks;
    std::vector<uint8_t> bits;  // padded by one word at the end
    std::vector<std::pair<size_t, T>> elsewhere;
  };
  uint64_t BitsAt(const Block& block, size_t i) const {
    const size_t bit = i * block.width;
    uint64_t word;
    std::memcpy(&word, bits_ + kGroup * block.group + bit / 8, sizeof word);
    return word >> bit % 8 & ((uint64_t{1} << block.width) - 1);
  }
  T Special(size_t i) const;
  // The values of a block, in units above its base.
  struct Units {
    uint64_t base = 0;
    uint64_t of[kBlock];  // kNoUnits: not a whole number of units, or kNone
    uint64_t most = 0;    // maximum, without kNoUnits
    bool special = false;
  };
  static constexpr uint64_t kNoUnits = ~uint64_t{0};
  static void Count(const T* begin, const T* end, Units* out);
  static Block BlockOf(const Units& units, const T* begin, const T* end);
  static void Fill(const Units& units, const T* values, size_t begin, size_t end, Block* block, Narrowed* to);

  const T* plain_ = nullptr;
  const Block* blocks_ = nullptr;
  const uint8_t* bits_ = nullptr;
  size_t size_ = 0;
  Column<T> keep_;
  std::shared_ptr<const Narrowed> narrowed_;
};

extern template class NarrowColumn<Time>;
extern template class NarrowColumn<uint32_t>;
extern template class NarrowColumn<int32_t>;

}  // namespace chakra
