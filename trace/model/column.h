// A column of a graph: immutable values, which several graphs may share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace chakra {

// Can be read like a const std::vector. A copy shares the values. To change values, convert the column to a
// vector, change the vector and assign it.
template <typename T>
class Column {
 public:
  using value_type = T;
  using const_iterator = const T*;

  Column() = default;
  Column(std::vector<T> values) {  // NOLINT: a vector is a column
    if (values.empty()) return;
    keep_ = std::make_shared<const std::vector<T>>(std::move(values));
    data_ = keep_->data();
    size_ = keep_->size();
  }
  operator std::vector<T>() const { return {begin(), end()}; }  // NOLINT: a copy
  // The first `count` values.
  Column First(size_t count) const {
    Column out = *this;
    out.size_ = count;
    return out;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* data() const { return data_; }
  const T& operator[](size_t i) const { return data_[i]; }
  const T& front() const { return data_[0]; }
  const T& back() const { return data_[size_ - 1]; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

  // Whether both columns are the same values in memory.
  bool Shares(const Column& o) const { return data_ == o.data_ && size_ == o.size_; }
  friend bool operator==(const Column& a, const Column& b) {
    return a.Shares(b) || std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
  std::shared_ptr<const std::vector<T>> keep_;
};

}  // namespace chakra
