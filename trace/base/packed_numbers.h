// A sequence of numbers, each stored in as few bytes as it needs, and read in the order in which it was
// written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace chakra {

class PackedNumbers {
 public:
  PackedNumbers() = default;
  PackedNumbers(PackedNumbers&& o) noexcept
      : chunks_(std::move(o.chunks_)),
        at_(std::exchange(o.at_, nullptr)),
        end_(std::exchange(o.end_, nullptr)) {}
  PackedNumbers& operator=(PackedNumbers&& o) noexcept {
    chunks_ = std::move(o.chunks_);
    at_ = std::exchange(o.at_, nullptr);
    end_ = std::exchange(o.end_, nullptr);
    return *this;
  }

  static constexpr size_t kMost = 192;  // maximum of bytes between two calls of Begin(); at most 10 a number

  // Makes room for the next few numbers. The reader must call Begin() at the same positions.
  void Begin() {
    if (static_cast<size_t>(end_ - at_) < kMost) Grow();
  }
  void Byte(uint8_t v) { *at_++ = v; }
  void Number(uint64_t v) {
    for (; v >= 0x80; v >>= 7) *at_++ = static_cast<uint8_t>(v | 0x80);
    *at_++ = static_cast<uint8_t>(v);
  }
  // Negative numbers of small magnitude need few bytes too.
  void Signed(int64_t v) { Number(static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63)); }
  // Writes the difference of `v` and `before`. It wraps around, so any two numbers have one.
  void Change(int64_t before, int64_t v) {
    Signed(static_cast<int64_t>(static_cast<uint64_t>(v) - static_cast<uint64_t>(before)));
  }

  // Reads the numbers. The PackedNumbers object must outlive the reader and must not change any more.
  class Reader {
   public:
    explicit Reader(const PackedNumbers& of) : of_(of) {}
    void Begin() {
      if (at_ == end_) Next();
    }
    uint8_t Byte() { return *at_++; }
    uint64_t Number() {
      uint64_t v = *at_ & 0x7f;
      for (int shift = 7; *at_++ >= 0x80; shift += 7) v |= static_cast<uint64_t>(*at_ & 0x7f) << shift;
      return v;
    }
    uint32_t Number32() { return static_cast<uint32_t>(Number()); }
    int64_t Signed() {
      const uint64_t v = Number();
      return static_cast<int64_t>(v >> 1 ^ (0 - (v & 1)));
    }
    int64_t Change(int64_t before) {
      return static_cast<int64_t>(static_cast<uint64_t>(before) + static_cast<uint64_t>(Signed()));
    }

   private:
    void Next() {
      const Chunk& chunk = of_.chunks_[next_++];
      at_ = chunk.bytes.get();
      end_ = next_ == of_.chunks_.size() ? of_.at_ : chunk.bytes.get() + chunk.used;
    }
    const PackedNumbers& of_;
    size_t next_ = 0;
    const uint8_t *at_ = nullptr, *end_ = nullptr;
  };

 private:
  struct Chunk {
    std::unique_ptr<uint8_t[]> bytes;
    size_t used = 0;  // bytes written; not set for the last chunk
  };
  void Grow() {
    constexpr size_t kLeast = 4 << 10, kLargest = 1 << 20;
    if (!chunks_.empty()) chunks_.back().used = static_cast<size_t>(at_ - chunks_.back().bytes.get());
    const size_t bytes = std::min(kLargest, kLeast << std::min<size_t>(chunks_.size(), 8));
    chunks_.push_back({std::unique_ptr<uint8_t[]>(new uint8_t[bytes]), 0});  // deliberately not zeroed
    at_ = chunks_.back().bytes.get();
    end_ = at_ + bytes;
  }
  std::vector<Chunk> chunks_;
  uint8_t *at_ = nullptr, *end_ = nullptr;  // within the last chunk
};

}  // namespace chakra
