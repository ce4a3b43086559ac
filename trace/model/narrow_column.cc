#include "trace/model/narrow_column.h"

#include <algorithm>

namespace chakra {
namespace {

bool IsWhole(Time t) { return t.picos() % static_cast<int64_t>(Narrowing<Time>::kUnit) == 0; }
bool IsWhole(uint32_t) { return true; }

}  // namespace

template <typename T>
NarrowColumn<T>::NarrowColumn(std::vector<T> values) : NarrowColumn(Column<T>(std::move(values))) {}

template <typename T>
NarrowColumn<T>::NarrowColumn(const Column<T>& values)
    : plain_(values.data()), size_(values.size()), keep_(values) {}

template <typename T>
NarrowColumn<T> NarrowColumn<T>::Narrow(const std::vector<T>& values) {
  constexpr size_t kWorthIt = 4 * kBlock, kFew = 16;  // of so many values one may be elsewhere
  const auto plain = [&] { return NarrowColumn(std::vector<T>(values.begin(), values.end())); };
  if (values.size() < kWorthIt) return plain();
  auto narrowed = std::make_shared<Narrowed>();
  narrowed->above.resize(values.size());
  narrowed->base.reserve(values.size() / kBlock + 1);
  for (size_t begin = 0; begin < values.size(); begin += kBlock) {
    const size_t end = std::min(values.size(), begin + kBlock);
    T least = By::kNone;  // the greatest value
    for (size_t i = begin; i < end; ++i) {
      if (IsWhole(values[i])) least = std::min(least, values[i]);
    }
    const uint64_t base = By::Number(least);
    narrowed->base.push_back(base);
    for (size_t i = begin; i < end; ++i) {
      const uint64_t above = By::Number(values[i]) - base, units = above / By::kUnit;
      const bool near = units < kNone && units * By::kUnit == above, none = values[i] == By::kNone;
      narrowed->above[i] = none ? kNone : near ? static_cast<Above>(units) : kElsewhere;
      if (!none && !near) narrowed->elsewhere.emplace_back(i, values[i]);
    }
    if (narrowed->elsewhere.size() > values.size() / kFew) return plain();
  }
  NarrowColumn out;
  out.size_ = values.size();
  out.above_ = narrowed->above.data();
  out.base_ = narrowed->base.data();
  out.narrowed_ = std::move(narrowed);
  return out;
}

template <typename T>
T NarrowColumn<T>::Special(size_t i) const {
  if (above_[i] == kNone) return By::kNone;
  const auto& all = narrowed_->elsewhere;
  return std::lower_bound(all.begin(), all.end(), i, [](const auto& e, size_t row) { return e.first < row; })
      ->second;
}

template class NarrowColumn<Time>;
template class NarrowColumn<uint32_t>;

}  // namespace chakra
