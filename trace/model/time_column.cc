#include "trace/model/time_column.h"

#include <algorithm>

namespace chakra {

Column<Time>::Column(std::vector<Time> values) {
  if (values.empty()) return;
  keep_ = std::make_shared<const std::vector<Time>>(std::move(values));
  plain_ = keep_->data();
  size_ = keep_->size();
}

Column<Time> Column<Time>::Narrow(const std::vector<Time>& values) {
  constexpr size_t kWorthIt = 4 * kBlock, kFew = 16;  // of so many values one may be elsewhere
  const auto plain = [&] { return Column(std::vector<Time>(values.begin(), values.end())); };
  if (values.size() < kWorthIt) return plain();
  auto narrowed = std::make_shared<Narrowed>();
  narrowed->units.resize(values.size());
  narrowed->base.reserve(values.size() / kBlock + 1);
  for (size_t begin = 0; begin < values.size(); begin += kBlock) {
    const size_t end = std::min(values.size(), begin + kBlock);
    int64_t least = INT64_MAX;
    for (size_t i = begin; i < end; ++i) least = std::min(least, values[i].picos());
    narrowed->base.push_back(least);
    for (size_t i = begin; i < end; ++i) {
      const uint64_t more = static_cast<uint64_t>(values[i].picos()) - static_cast<uint64_t>(least),
                     units = more / kUnit;
      const bool near = units < kElsewhere && units * kUnit == more;
      narrowed->units[i] = near ? static_cast<uint32_t>(units) : kElsewhere;
      if (!near) narrowed->elsewhere.emplace_back(i, values[i]);
    }
    if (narrowed->elsewhere.size() > values.size() / kFew) return plain();
  }
  Column out;
  out.size_ = values.size();
  out.narrow_ = narrowed->units.data();
  out.base_ = narrowed->base.data();
  out.narrowed_ = std::move(narrowed);
  return out;
}

Time Column<Time>::Elsewhere(size_t i) const {
  const auto& all = narrowed_->elsewhere;
  return std::lower_bound(all.begin(), all.end(), i, [](const auto& e, size_t row) { return e.first < row; })
      ->second;
}

bool operator==(const Column<Time>& a, const Column<Time>& b) {
  return a.Shares(b) || std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace chakra
