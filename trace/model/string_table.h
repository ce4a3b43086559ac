// Interned strings: each distinct text is stored once and has a dense 32-bit index.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra {

// Index 0 is always "". Views stay valid until the next Intern().
class StringTable {
 public:
  StringTable();
  // A copy has only the strings, as if it had been shrunk with Shrink().
  StringTable(const StringTable& o) : bytes_(o.bytes_), begin_(o.begin_) {}
  StringTable& operator=(const StringTable& o) { return *this = StringTable(o); }
  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;
  uint32_t Intern(absl::string_view s) { return s.empty() ? 0 : Intern(s, Hash(s)); }
  // Prefetch() and the second Intern() do the work of Intern(s) in two steps: other work in between hides the
  // memory latency. Prefetch() alone has no effect.
  uint32_t Prefetch(absl::string_view s) const {
    const uint32_t hash = Hash(s);
    if (!slot_.empty()) __builtin_prefetch(&slot_[hash & (slot_.size() - 1)]);
    return hash;
  }
  // Precondition: `hash` is the result of Prefetch(s).
  uint32_t Intern(absl::string_view s, uint32_t hash);
  absl::string_view Get(uint32_t i) const {
    return absl::string_view(bytes_.data() + begin_[i], begin_[i + 1] - begin_[i]);
  }
  uint32_t size() const { return static_cast<uint32_t>(begin_.size() - 1); }
  bool operator==(const StringTable& o) const { return begin_ == o.begin_ && bytes_ == o.bytes_; }
  // Removes all strings, but keeps the memory.
  void Clear();
  // Frees the memory that only Intern() needs. The next Intern() rebuilds it.
  void Shrink();

 private:
  // A slot stores hash and index, so that neither collisions nor growing need to read the text.
  struct Slot {
    uint32_t hash = 0;
    uint32_t index = 0;  // 0: the slot is free
  };
  static uint32_t Hash(absl::string_view s);
  void Grow();
  void Place(uint32_t hash, uint32_t index);
  std::vector<char> bytes_;
  std::vector<uint64_t> begin_;  // size() + 1
  std::vector<Slot> slot_;       // open addressing
};

}  // namespace chakra
