#include "trace/et/alike_ranks.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace chakra {
namespace {

constexpr size_t kSizes = 64;

// Whether the bytes from `begin` to `end` are exactly one varint.
bool EndsThere(const char* begin, const char* end) {
  for (const char* p = begin; p < end - 1; ++p) {
    if ((*p & 0x80) == 0) return false;
  }
  return (end[-1] & 0x80) == 0;
}

bool Equals(const DecodedRank& rank, absl::string_view content) {
  if (rank.content.size() != content.size()) return false;
  const char* a = rank.content.data();
  const char* b = content.data();
  uint64_t at = 0;
  for (const VaryingValue& v : rank.varying) {
    if (std::memcmp(a + at, b + at, v.begin - at) != 0) return false;
    if (v.kind != VaryingValue::kGroup && !EndsThere(b + v.begin, b + v.end)) return false;
    at = v.end;
  }
  return std::memcmp(a + at, b + at, content.size() - at) == 0;
}

}  // namespace

const DecodedRank* AlikeRanks::Find(absl::string_view content) {
  for (auto it = ranks_.begin(); it != ranks_.end(); ++it) {
    if (!Equals(*it, content)) continue;
    ranks_.splice(ranks_.begin(), ranks_, it);
    return &ranks_.front();
  }
  return nullptr;
}

bool AlikeRanks::Wants(size_t size) {
  if (size > kMostBytes / 4) return false;
  if (std::find(sizes_.begin(), sizes_.end(), size) != sizes_.end()) return true;
  if (sizes_.size() == kSizes) sizes_.erase(sizes_.begin());
  sizes_.push_back(size);
  return false;
}

void AlikeRanks::Keep(DecodedRank rank) {
  bytes_ += rank.content.size();
  ranks_.push_front(std::move(rank));
  while (bytes_ > kMostBytes) {
    bytes_ -= ranks_.back().content.size();
    ranks_.pop_back();
  }
}

}  // namespace chakra
