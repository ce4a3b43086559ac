// A fixed set of words, hashed at compile time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace chakra::pytorch::kineto {

template <typename Value>
struct Keyword {
  absl::string_view word;
  Value value;
};

// Each word has at least 2 bytes. There are at most `kSlots` / 4 words; `kSlots` is a power of two.
template <typename Value, size_t kSlots>
class Keywords {
 public:
  template <size_t n>
  constexpr explicit Keywords(const Keyword<Value> (&words)[n]) {
    static_assert(n * 4 <= kSlots);
    for (const Keyword<Value>& k : words) {
      size_t i = Hash(k.word);
      while (!slot_[i].word.empty()) i = (i + 1) % kSlots;
      slot_[i] = k;
    }
  }
  // The value of `word`; null if `word` is not in the set.
  constexpr const Value* Find(absl::string_view word) const {
    if (word.size() < 2) return nullptr;
    for (size_t i = Hash(word); !slot_[i].word.empty(); i = (i + 1) % kSlots) {
      if (slot_[i].word == word) return &slot_[i].value;
    }
    return nullptr;
  }

 private:
  static constexpr size_t Hash(absl::string_view w) {
    const auto at = [w](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(w[i])); };
    return (w.size() * 5 + at(0) * 7 + at(w.size() / 2) * 3 + at(w.size() - 1) * 11) % kSlots;
  }
  Keyword<Value> slot_[kSlots] = {};
};

}  // namespace chakra::pytorch::kineto
