#include "trace/string_table.h"

#include <algorithm>
#include <cstring>

#include "absl/hash/hash.h"

namespace chakra {
namespace {
size_t Hash(absl::string_view s) { return absl::Hash<absl::string_view>()(s); }
}  // namespace

StringTable::StringTable() : begin_{0, 0} {}

uint32_t StringTable::Intern(absl::string_view s) {
  if (s.empty()) return 0;
  if (size() * 2 >= slot_.size()) Rehash(slot_.size() < 16 ? 16 : slot_.size() * 2);
  const size_t mask = slot_.size() - 1;
  size_t i = Hash(s) & mask;
  while (slot_[i] != 0) {
    if (Get(slot_[i] - 1) == s) return slot_[i] - 1;
    i = (i + 1) & mask;
  }
  const uint32_t index = size();
  bytes_.insert(bytes_.end(), s.begin(), s.end());
  begin_.push_back(bytes_.size());
  slot_[i] = index + 1;
  return index;
}

void StringTable::Rehash(size_t buckets) {
  while (size() * 2 >= buckets) buckets *= 2;
  slot_.assign(buckets, 0);
  const size_t mask = buckets - 1;
  for (uint32_t k = 1; k < size(); ++k) {
    size_t i = Hash(Get(k)) & mask;
    while (slot_[i] != 0) i = (i + 1) & mask;
    slot_[i] = k + 1;
  }
}

void StringTable::Clear() {
  bytes_.clear();
  begin_.assign(2, 0);
  std::fill(slot_.begin(), slot_.end(), 0);
}

void StringTable::Shrink() {
  std::vector<uint32_t>().swap(slot_);
  bytes_.shrink_to_fit();
  begin_.shrink_to_fit();
}

}  // namespace chakra
