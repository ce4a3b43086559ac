#include "trace/model/string_table.h"

#include <algorithm>
#include <cstring>

namespace chakra {
namespace {

uint64_t Word(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

uint64_t Fold(uint64_t a, uint64_t b) {
  const unsigned __int128 m = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(m) ^ static_cast<uint64_t>(m >> 64);
}

}  // namespace

// The multiply-and-fold step of wyhash, cheap for names of a few words.
uint32_t StringTable::Hash(absl::string_view s) {
  constexpr uint64_t kA = 0xa0761d6478bd642f, kB = 0xe7037ed1a0b428db;
  const char* p = s.data();
  size_t n = s.size();
  uint64_t h = kA ^ n;
  for (; n > 16; n -= 16, p += 16) h = Fold(Word(p) ^ kB, Word(p + 8) ^ h);
  uint64_t a = 0, b = 0;
  if (n >= 8) {
    a = Word(p);
    b = Word(p + n - 8);
  } else if (n > 0) {
    std::memcpy(&a, p, n);  // n may be 0, and data() of an empty view may be null
  }
  h = Fold(a ^ kB, b ^ h);
  return static_cast<uint32_t>(h ^ h >> 32);
}

StringTable::StringTable() : begin_{0, 0} {}

uint32_t StringTable::Intern(absl::string_view s, uint32_t hash) {
  if (s.empty()) return 0;
  if (size_t{size()} * 2 >= slot_.size()) Grow();
  const size_t mask = slot_.size() - 1;
  size_t i = hash & mask;
  for (; slot_[i].index != 0; i = (i + 1) & mask) {
    if (slot_[i].hash == hash && Get(slot_[i].index) == s) return slot_[i].index;
  }
  const uint32_t index = size();
  bytes_.insert(bytes_.end(), s.begin(), s.end());
  begin_.push_back(bytes_.size());
  slot_[i] = {hash, index};
  return index;
}

void StringTable::Place(uint32_t hash, uint32_t index) {
  const size_t mask = slot_.size() - 1;
  size_t i = hash & mask;
  while (slot_[i].index != 0) i = (i + 1) & mask;
  slot_[i] = {hash, index};
}

void StringTable::Grow() {
  std::vector<Slot> old;
  old.swap(slot_);
  size_t buckets = std::max<size_t>(1024, old.size() * 4);
  while (size_t{size()} * 2 >= buckets) buckets *= 2;
  slot_.assign(buckets, Slot());
  for (const Slot& s : old) {
    if (s.index != 0) Place(s.hash, s.index);
  }
  if (!old.empty()) return;
  for (uint32_t k = 1; k < size(); ++k) Place(Hash(Get(k)), k);
}

void StringTable::Clear() {
  bytes_.clear();
  begin_.assign(2, 0);
  std::fill(slot_.begin(), slot_.end(), Slot());
}

void StringTable::Shrink() {
  std::vector<Slot>().swap(slot_);
  bytes_.shrink_to_fit();
  begin_.shrink_to_fit();
}

}  // namespace chakra
