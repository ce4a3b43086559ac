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

// Returns the smaller value; kNone counts as greater than all others.
Time Lesser(Time a, Time b) { return std::min(a, b); }
uint32_t Lesser(uint32_t a, uint32_t b) { return std::min(a, b); }
int32_t Lesser(int32_t a, int32_t b) {
  const auto key = [](int32_t v) { return static_cast<uint32_t>(v) + INT32_MAX; };
  return key(b) < key(a) ? b : a;
}
static_assert(Time::Never().picos() == INT64_MAX);

}  // namespace

template <typename T>
NarrowColumn<T>::NarrowColumn(std::vector<T> values) : NarrowColumn(Column<T>(std::move(values))) {}

template <typename T>
NarrowColumn<T>::NarrowColumn(const Column<T>& values)
    : plain_(values.data()), size_(values.size()), keep_(values) {}

template <typename T>
void NarrowColumn<T>::Count(const T* begin, const T* end, Units* out) {
  T least = By::kNone;
  for (const T* v = begin; v != end; ++v) least = Lesser(least, *v);
  if (!IsWhole(least)) {
    least = By::kNone;
    for (const T* v = begin; v != end; ++v) {
      if (IsWhole(*v)) least = Lesser(least, *v);
    }
  }
  const uint64_t base = By::Number(least);
  uint64_t most = 0, specials = 0;
  for (const T* v = begin; v != end; ++v) {
    const uint64_t above = By::Number(*v) - base, units = above / By::kUnit;
    const bool special = (*v == By::kNone) | (units * By::kUnit != above);
    out->of[v - begin] = special ? kNoUnits : units;
    most = std::max(most, special ? 0 : units);
    specials += special ? 1 : 0;
  }
  out->base = base;
  out->most = most;
  out->special = specials > 0;
}

// Chooses the encoding of a block that needs the least memory.
template <typename T>
typename NarrowColumn<T>::Block NarrowColumn<T>::BlockOf(const Units& units, const T* begin, const T* end) {
  constexpr size_t kCost = 24;  // cost of a value stored elsewhere, in bytes: it is also slower to find
  constexpr int kFewBits = 8;   // a width that is not worth reducing
  Block block;
  block.base = units.base;
  const int all = std::bit_width(units.most);
  const bool plain = !units.special && all < kMostBits;
  block.width = static_cast<uint8_t>(all);
  block.special = uint32_t{1} << std::min(all, kMostBits - 1);
  if (plain && all <= kFewBits) return block;
  std::array<uint32_t, 66> need{};  // number of values by the bits that they need if two codes are special
  for (const T* v = begin; v != end; ++v) {
    const uint64_t of = units.of[v - begin];
    if (of == kNoUnits) {
      need[65] += *v == By::kNone ? 0 : 1;
    } else {
      ++need[static_cast<size_t>(std::bit_width(std::min(of, UINT64_MAX - 2) + 2))];
    }
  }
  size_t best = plain ? kGroup * static_cast<size_t>(all) : SIZE_MAX, elsewhere = need[65];
  for (size_t bits = 64; bits >= 1; elsewhere += need[bits--]) {
    if (bits > kMostBits) continue;
    if (const size_t cost = kGroup * bits + kCost * elsewhere; cost < best) {
      best = cost;
      block.width = static_cast<uint8_t>(bits);
      block.special = static_cast<uint32_t>((uint64_t{1} << bits) - 2);
    }
  }
  return block;
}

// Writes the bits of the values of a block into the space reserved for them.
template <typename T>
void NarrowColumn<T>::Fill(const Units& units, const T* values, size_t begin, size_t end, Block* block,
                           Narrowed* to) {
  block->first = static_cast<uint32_t>(to->elsewhere.size());
  uint8_t* out = to->bits.data() + kGroup * block->group;
  uint64_t word = 0;
  int used = 0;
  for (size_t i = begin; i < end; ++i) {
    uint64_t code = units.of[i - begin];
    if (code >= block->special) {
      const bool none = values[i] == By::kNone;
      code = uint64_t{block->special} + (none ? 0 : 1);
      if (!none) to->elsewhere.emplace_back(i, values[i]);
    }
    word |= code << used;
    for (used += block->width; used >= 32; used -= 32, out += 4, word >>= 32) std::memcpy(out, &word, 4);
  }
  std::memcpy(out, &word, 4);
}

template <typename T>
NarrowColumn<T> NarrowColumn<T>::Narrow(const std::vector<T>& values) {
  constexpr size_t kWorthIt = 4 * kBlock, kFew = 16;  // minimum size; at most one value in kFew is elsewhere
  const auto plain = [&] { return NarrowColumn(std::vector<T>(values.begin(), values.end())); };
  if (values.size() < kWorthIt) return plain();
  auto narrowed = std::make_shared<Narrowed>();
  narrowed->blocks.reserve((values.size() + kBlock - 1) / kBlock);
  narrowed->bits.reserve(values.size());
  Units units;
  size_t groups = 0;
  for (size_t begin = 0; begin < values.size(); begin += kBlock) {
    const size_t end = std::min(values.size(), begin + kBlock);
    Count(values.data() + begin, values.data() + end, &units);
    Block& block = narrowed->blocks.emplace_back(BlockOf(units, values.data() + begin, values.data() + end));
    block.group = static_cast<uint32_t>(groups);
    groups += block.width;
    if (groups > UINT32_MAX) return plain();
    narrowed->bits.resize(groups * kGroup + sizeof(uint64_t));
    Fill(units, values.data(), begin, end, &block, narrowed.get());
    if (narrowed->elsewhere.size() > values.size() / kFew) return plain();
  }
  narrowed->bits.shrink_to_fit();
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
void NarrowColumn<T>::Read(size_t begin, size_t count, T* out) const {
  if (plain_ != nullptr) {
    std::copy_n(plain_ + begin, count, out);
    return;
  }
  for (const size_t end = begin + count; begin < end;) {
    const Block block = blocks_[begin / kBlock];
    const size_t stop = std::min(end, (begin / kBlock + 1) * kBlock);
    for (; begin < stop; ++begin) {
      const uint64_t above = BitsAt(block, begin % kBlock);
      *out++ = above >= block.special ? Special(begin) : By::Value(block.base + above * By::kUnit);
    }
  }
}

template <typename T>
std::vector<T> NarrowColumn<T>::ToVector() const {
  std::vector<T> out(size_);
  Read(0, size_, out.data());
  return out;
}

template class NarrowColumn<Time>;
template class NarrowColumn<uint32_t>;
template class NarrowColumn<int32_t>;

}  // namespace chakra
