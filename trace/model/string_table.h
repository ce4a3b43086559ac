// Interned strings: each distinct text once, named by a dense 32-bit index.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakra {

// Index 0 is always "". Views stay valid until the next Intern().
class StringTable {
 public:
  StringTable();
  // A copy holds the strings alone, as after Shrink().
  StringTable(const StringTable& o) : bytes_(o.bytes_), begin_(o.begin_) {}
  StringTable& operator=(const StringTable& o) { return *this = StringTable(o); }
  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;
  uint32_t Intern(absl::string_view s) { return s.empty() ? 0 : Intern(s, Hash(s)); }
  // The same in two steps: what lies between them hides the time that memory
  // takes. Prefetch() may be left without an Intern().
  uint32_t Prefetch(absl::string_view s) const {
    const uint32_t hash = Hash(s);
    if (!slot_.empty()) __builtin_prefetch(&slot_[hash & (slot_.size() - 1)]);
    return hash;
  }
  // Precondition: `hash` is what Prefetch(s) returned.
  uint32_t Intern(absl::string_view s, uint32_t hash);
  absl::string_view Get(uint32_t i) const {
    return absl::string_view(bytes_.data() + begin_[i], begin_[i + 1] - begin_[i]);
  }
  uint32_t size() const { return static_cast<uint32_t>(begin_.size() - 1); }
  bool operator==(const StringTable& o) const { return begin_ == o.begin_ && bytes_ == o.bytes_; }
  // Forgets every string; keeps the memory.
  void Clear();
  // Gives back the memory that only Intern() needs. Intern() may still be
  // called; it rebuilds what it needs.
  void Shrink();

 private:
  // The hash lies beside the index, so that neither a collision nor growing
  // touches the text.
  struct Slot {
    uint32_t hash = 0;
    uint32_t index = 0;  // 0 is free
  };
  static uint32_t Hash(absl::string_view s);
  void Grow();
  void Place(uint32_t hash, uint32_t index);
  std::vector<char> bytes_;
  std::vector<uint64_t> begin_;  // size() + 1
  std::vector<Slot> slot_;       // open addressing
};

}  // namespace chakra
