#include "trace/model/narrow_column.h"

#include <algorithm>
#include <array>
#include <bit>

namespace chakra {
namespace {

static_assert(std::endian::native == std::endian::little, "a value's first bit is its lowest");

bool IsWhole(Time t) { return t.picos() % static_cast<int64_t>(Narrowing<Time>::kUnit) == 0; }
template <typename T>
bool IsWhole(T) {
  return true;
}

// How many units `v` is above `base`. False: no whole number.
template <typename T>
bool UnitsAbove(uint64_t base, T v, uint64_t* units) {
  using By = Narrowing<T>;
  const uint64_t above = By::Number(v) - base;
  *units = above / By::kUnit;
  return *units * By::kUnit == above;
}

}  // namespace

template <typename T>
NarrowColumn<T>::NarrowColumn(std::vector<T> values) : NarrowColumn(Column<T>(std::move(values))) {}

template <typename T>
NarrowColumn<T>::NarrowColumn(const Column<T>& values)
    : plain_(values.data()), size_(values.size()), keep_(values) {}

// How the values of a block take the least memory.
template <typename T>
typename NarrowColumn<T>::Block NarrowColumn<T>::BlockOf(const T* begin, const T* end) {
  constexpr size_t kCost = 24;  // bytes that a value elsewhere counts as: it also takes longer to find
  Block block;
  const T* least = nullptr;
  for (const T* v = begin; v != end; ++v) {
    if (*v != By::kNone && IsWhole(*v) && (least == nullptr || *v < *least)) least = v;
  }
  block.base = least == nullptr ? 0 : By::Number(*least);
  std::array<uint32_t, 66> need{};  // values by bits that they need beside two codes that are no values
  uint64_t most = 0;
  bool special = false;
  for (const T* v = begin; v != end; ++v) {
    uint64_t units = 0;
    if (*v == By::kNone || !UnitsAbove(block.base, *v, &units)) {
      special = true;
      need[65] += *v == By::kNone ? 0 : 1;
      continue;
    }
    most = std::max(most, units);
    ++need[static_cast<size_t>(std::bit_width(std::min(units, UINT64_MAX - 2) + 2))];
  }
  const int all = std::bit_width(most);
  const size_t plain = special || all >= kMostBits ? SIZE_MAX : kGroup * static_cast<size_t>(all);
  size_t best = SIZE_MAX, elsewhere = need[65];
  for (size_t bits = 64; bits >= 1; elsewhere += need[bits--]) {
    if (bits > kMostBits) continue;
    if (const size_t cost = kGroup * bits + kCost * elsewhere; cost < best) {
      best = cost;
      block.width = static_cast<uint8_t>(bits);
    }
  }
  block.special = static_cast<uint32_t>((uint64_t{1} << block.width) - 2);
  if (plain > best) return block;
  block.width = static_cast<uint8_t>(all);
  block.special = uint32_t{1} << all;
  return block;
}

// Writes the bits of the values of a block.
template <typename T>
void NarrowColumn<T>::Fill(const T* values, size_t begin, size_t end, Block* block, Narrowed* to) {
  block->first = static_cast<uint32_t>(to->elsewhere.size());
  uint8_t* out = to->bits.data() + kGroup * block->group;
  uint64_t word = 0;
  int used = 0;
  for (size_t i = begin; i < end; ++i) {
    uint64_t code = 0;
    if (values[i] == By::kNone) {
      code = block->special;
    } else if (!UnitsAbove(block->base, values[i], &code) || code >= block->special) {
      code = uint64_t{block->special} + 1;
      to->elsewhere.emplace_back(i, values[i]);
    }
    word |= code << used;
    for (used += block->width; used >= 32; used -= 32, out += 4, word >>= 32) std::memcpy(out, &word, 4);
  }
  std::memcpy(out, &word, 4);
}

template <typename T>
NarrowColumn<T> NarrowColumn<T>::Narrow(const std::vector<T>& values) {
  constexpr size_t kWorthIt = 4 * kBlock, kFew = 16;  // of so many values one may be elsewhere
  const auto plain = [&] { return NarrowColumn(std::vector<T>(values.begin(), values.end())); };
  if (values.size() < kWorthIt) return plain();
  auto narrowed = std::make_shared<Narrowed>();
  narrowed->blocks.reserve((values.size() + kBlock - 1) / kBlock);
  size_t groups = 0;
  for (size_t begin = 0; begin < values.size(); begin += kBlock) {
    const size_t end = std::min(values.size(), begin + kBlock);
    Block& block = narrowed->blocks.emplace_back(BlockOf(values.data() + begin, values.data() + end));
    block.group = static_cast<uint32_t>(groups);
    groups += block.width;
    if (groups > UINT32_MAX) return plain();
  }
  narrowed->bits.resize(groups * kGroup + sizeof(uint64_t));
  for (size_t b = 0; b < narrowed->blocks.size(); ++b) {
    const size_t begin = b * kBlock;
    Fill(values.data(), begin, std::min(values.size(), begin + kBlock), &narrowed->blocks[b], narrowed.get());
    if (narrowed->elsewhere.size() > values.size() / kFew) return plain();
  }
  narrowed->elsewhere.shrink_to_fit();
  NarrowColumn out;
  out.size_ = values.size();
  out.blocks_ = narrowed->blocks.data();
  out.bits_ = narrowed->bits.data();
  out.narrowed_ = std::move(narrowed);
  return out;
}

template <typename T>
T NarrowColumn<T>::Special(size_t i) const {
  const Block& block = blocks_[i / kBlock];
  if (BitsAt(block, i % kBlock) == block.special) return By::kNone;
  const auto& all = narrowed_->elsewhere;
  const auto next =
      i / kBlock + 1 == narrowed_->blocks.size() ? all.end() : all.begin() + blocks_[i / kBlock + 1].first;
  return std::lower_bound(all.begin() + block.first, next, i,
                          [](const auto& e, size_t row) { return e.first < row; })
      ->second;
}

template <typename T>
std::vector<T> NarrowColumn<T>::ToVector() const {
  if (plain_ != nullptr) return {plain_, plain_ + size_};
  std::vector<T> out;
  out.reserve(size_);
  for (size_t i = 0; i < size_; ++i) out.push_back((*this)[i]);
  return out;
}

template class NarrowColumn<Time>;
template class NarrowColumn<uint32_t>;
template class NarrowColumn<int32_t>;

}  // namespace chakra
