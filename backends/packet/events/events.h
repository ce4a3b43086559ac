// What happens when: 16 bytes an event, and two queues of them to choose from.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "trace/base/heap4.h"

namespace chakra::packet {

// Events are ordered by what they are, never by when they were posted, so that
// the order is one for any number of threads.
struct PacketEvent {
  // At one instant in this order.
  enum Kind : uint32_t {
    kArrive,   // a packet (argument) at the end of a port's link
    kSignal,   // a pause, resumption or credit for a port
    kFree,     // a port may send its next packet
    kPace,     // a connection may send again
    kTimeout,  // of a connection
    kTimer,    // of a connection's transport
    kSent,     // a message's last byte has left
    kReceived,
  };
  static constexpr uint32_t kKindShift = 29;

  int64_t at;   // ps
  uint32_t id;  // kind, and the number of a port, connection or message
  uint32_t argument;

  static uint32_t Id(Kind kind, uint32_t index) { return kind << kKindShift | index; }
  Kind kind() const { return static_cast<Kind>(id >> kKindShift); }
  uint32_t index() const { return id & ((1u << kKindShift) - 1); }
  bool Before(const PacketEvent& o) const {
    const uint64_t what = uint64_t{id} << 32 | argument, other = uint64_t{o.id} << 32 | o.argument;
    return (at < o.at) | ((at == o.at) & (what < other));
  }
};
static_assert(sizeof(PacketEvent) == 16);

// A 4-ary heap.
class HeapEvents {
 public:
  bool empty() const { return heap_.empty(); }
  int64_t at() const { return heap_.empty() ? std::numeric_limits<int64_t>::max() : heap_.top().at; }
  // Whether the first event is at or before `last`; Pop() gives it then.
  bool HasUpTo(int64_t last) const { return at() <= last; }
  // Nothing will be pushed before `t` any more, and nothing is left from there.
  void Begin(int64_t /*t*/) {}
  uint64_t MemoryBytes() const { return heap_.MemoryBytes(); }
  void Push(PacketEvent e) { heap_.Push(e); }
  // The first events, as many as are known at little cost, up to `most`. After HasUpTo().
  std::span<const PacketEvent> Coming(size_t /*most*/) const { return {}; }
  // Does `f` for events behind all that Coming() may show, as many as are known at little cost, in no order.
  template <typename F>
  void ForEachBeyond(const F& /*f*/) {}
  PacketEvent Pop() {
    const PacketEvent e = heap_.top();
    heap_.Pop();
    return e;
  }

 private:
  Heap4<PacketEvent> heap_;
};

// Time is cut into buckets, a ring of which holds what comes soon; a heap holds
// the rest. A bucket is sorted when its turn comes. (R. Brown, "Calendar queues",
// CACM 1988, with buckets of a fixed width and a heap for what is far.)
class BucketEvents {
 public:
  // A bucket is 2^`width` ps; the ring holds 2^12 of them.
  explicit BucketEvents(int width = 14) : width_(width), ring_(kBuckets), used_(kBuckets / 64) {}

  bool empty() const { return size_ == 0; }
  // Of the first event; the greatest time where there is none.
  int64_t at() const {
    if (next_ < current_.size()) return current_[next_].at;
    int64_t first = far_.at();
    if (in_ring_ == 0) return first;
    const auto bucket = static_cast<size_t>(FirstInRing()) % kBuckets;
    ForEach(ring_[bucket], [&](const PacketEvent& e) { first = std::min(first, e.at); });
    return first;
  }
  // Whether the first event is at or before `last`; Pop() gives it then. No bucket after `last` is begun:
  // what comes before it may still be pushed at little cost.
  bool HasUpTo(int64_t last) {
    if (next_ == current_.size()) {
      if (size_ == 0) return false;
      if (moved_ >= kLook || turns_ >= kLook / 8) Adapt();
      const int64_t bucket = FirstBucket();
      if (bucket > last >> width_) return false;
      Turn(bucket);
    }
    return current_[next_].at <= last;
  }
  // Nothing will be pushed before `t` any more, and nothing is left from there.
  void Begin(int64_t t) {
    if (next_ == current_.size()) bucket_ = std::max(bucket_, (t >> width_) - 1);
  }
  uint64_t MemoryBytes() const {
    return chunks_.capacity() * sizeof(Chunk) + current_.capacity() * sizeof(PacketEvent) +
           ring_.capacity() * sizeof(Bucket) + far_.MemoryBytes();
  }
  // An event in registers: a load of the whole would wait until the stores of its parts are done.
  void Push(PacketEvent e) {
    ++size_;
    const int64_t bucket = e.at >> width_;
    if (bucket <= bucket_) {
      Insert(e);
    } else if (bucket - bucket_ < kBuckets) {
      Put(e, static_cast<size_t>(bucket) % kBuckets);
      ++in_ring_;
    } else {
      far_.Push(e);
    }
  }
  std::span<const PacketEvent> Coming(size_t most) const {
    return {current_.data() + next_, std::min(most, current_.size() - next_)};
  }
  template <typename F>
  void ForEachBeyond(const F& f) {
    if (!beyond_) return;
    beyond_ = false;
    if (in_ring_ > 0) ForEach(ring_[static_cast<size_t>(FirstInRing()) % kBuckets], f);
  }
  // After HasUpTo().
  PacketEvent Pop() {
    --size_;
    return current_[next_++];
  }

 private:
  static constexpr int64_t kBuckets = 1 << 12;

  static constexpr uint32_t kNone = 0xffffffff;
  // Events of a bucket. The chunk that was freed last is used first: it is still in the cache.
  struct alignas(64) Chunk {
    static constexpr uint32_t kMost = 15;
    PacketEvent events[kMost];
    uint32_t next;  // of the bucket, in a circle
  };
  static_assert(sizeof(Chunk) == 256);
  // How full its last chunk is stands here: an event is put there without a look at the chunk, which may have
  // to come from memory.
  struct Bucket {
    uint32_t last = kNone;  // chunk
    uint32_t count = Chunk::kMost;
  };
  static constexpr size_t kCrowded = 64, kSparse = 20;  // events in a bucket
  static constexpr size_t kLook = 1024;                 // events between two looks at that
  static constexpr int kNarrowest = 8, kWidest = 20;    // 256 ps, 1 us
  static constexpr int kSlotWidth = 6;                  // slots of time in a bucket when it is sorted
  static constexpr size_t kSlots = size_t{1} << kSlotWidth;
  static constexpr size_t kMostDealt = 255;  // events: they are counted in bytes
  static constexpr size_t kMostMoved = 16;   // places that one is moved by

  // Into the bucket whose turn it is.
  void Insert(PacketEvent e) {
    size_t i = current_.size();
    current_.push_back(e);
    for (; i > next_ && e.Before(current_[i - 1]); --i) current_[i] = current_[i - 1];
    current_[i] = e;
  }
  void Put(PacketEvent e, size_t bucket) {
    Bucket& b = ring_[bucket];
    if (b.count == Chunk::kMost) AddChunk(bucket);
    chunks_[b.last].events[b.count++] = e;
  }
  void AddChunk(size_t bucket) {
    uint32_t c;
    if (free_.empty()) {
      c = static_cast<uint32_t>(chunks_.size());
      chunks_.emplace_back();
    } else {
      c = free_.back();
      free_.pop_back();
    }
    const uint32_t last = ring_[bucket].last;
    chunks_[c].next = last == kNone ? c : std::exchange(chunks_[last].next, c);
    ring_[bucket] = {c, 0};
    used_[bucket / 64] |= uint64_t{1} << (bucket % 64);
  }
  void Empty(size_t bucket) {
    const uint32_t last = ring_[bucket].last;
    for (uint32_t c = last; c != kNone; c = chunks_[c].next == last ? kNone : chunks_[c].next) {
      free_.push_back(c);
    }
    ring_[bucket] = Bucket();
    used_[bucket / 64] &= ~(uint64_t{1} << (bucket % 64));
  }
  // The first bucket of the ring that holds anything, counted from bucket_.
  int64_t FirstInRing() const {
    const auto start = static_cast<size_t>(bucket_ + 1) % kBuckets;
    for (size_t word = start / 64, looked = 0; looked <= kBuckets / 64; ++looked) {
      uint64_t bits = used_[word];
      if (looked == 0) bits &= ~uint64_t{0} << (start % 64);
      if (looked == kBuckets / 64) bits &= ~(~uint64_t{0} << (start % 64));
      if (bits != 0) {
        const size_t i = word * 64 + static_cast<size_t>(__builtin_ctzll(bits));
        return bucket_ + 1 + static_cast<int64_t>((i + kBuckets - start) % kBuckets);
      }
      word = word + 1 == kBuckets / 64 ? 0 : word + 1;
    }
    return std::numeric_limits<int64_t>::max();
  }
  int64_t FirstBucket() const {
    const int64_t near = in_ring_ == 0 ? std::numeric_limits<int64_t>::max() : FirstInRing();
    return std::min(near, far_.empty() ? std::numeric_limits<int64_t>::max() : far_.at() >> width_);
  }
  void Turn(int64_t bucket) {
    const auto place = static_cast<size_t>(bucket) % kBuckets;
    // Where the ring does not reach as far it is empty.
    for (bucket_ = bucket; !far_.empty() && far_.at() >> width_ == bucket_; ++in_ring_)
      Put(far_.Pop(), place);
    next_ = 0;
    beyond_ = true;
    Sort(ring_[place]);
    Empty(place);
    in_ring_ -= current_.size();
    moved_ += current_.size();
    ++turns_;
  }
  // In the order in which they came.
  template <typename F>
  void ForEach(const Bucket& b, const F& f) const {
    if (b.last == kNone) return;
    for (uint32_t c = chunks_[b.last].next;; c = chunks_[c].next) {
      const PacketEvent* const events = chunks_[c].events;
      const uint32_t count = c == b.last ? b.count : Chunk::kMost;
      for (uint32_t i = 0; i < count; ++i) f(events[i]);
      if (c == b.last) return;
    }
  }
  // A bucket's events into current_. Branches on what comes first are as likely as not, and a miss costs as
  // much as all else that is done for an event: so most of the order comes without.
  void Sort(const Bucket& bucket) {
    std::array<uint64_t, kSlots / 8> places = {};
    size_t n = 0;
    ForEach(bucket, [&](const PacketEvent& e) {
      places[SlotOf(e) / 8] += uint64_t{1} << (8 * (SlotOf(e) % 8));
      ++n;
    });
    current_.resize(n);
    if (n <= kMostDealt) {
      Deal(bucket, &places);
      if (MoveDown()) return;
    } else {
      PacketEvent* to = current_.data();
      ForEach(bucket, [&](const PacketEvent& e) { *to++ = e; });
    }
    std::sort(current_.begin(), current_.end(),
              [](const PacketEvent& a, const PacketEvent& b) { return a.Before(b); });
  }
  size_t SlotOf(const PacketEvent& e) const {
    return static_cast<size_t>(e.at >> (width_ - kSlotWidth)) % kSlots;
  }
  // Events into slots of time. `places`: how many are in each, a byte a slot, 8 in a word; then where the
  // next one of each goes.
  void Deal(const Bucket& bucket, std::array<uint64_t, kSlots / 8>* places) {
    constexpr uint64_t kEach = 0x0101010101010101;
    uint64_t before = 0;
    for (uint64_t& eight : *places) {
      const uint64_t sums = eight * kEach;  // up to and with each
      eight = (sums << 8) + before * kEach;
      before += sums >> 56;
    }
    PacketEvent* const to = current_.data();
    ForEach(bucket, [&](const PacketEvent& e) {
      uint64_t& eight = (*places)[SlotOf(e) / 8];
      const size_t bits = 8 * (SlotOf(e) % 8);
      to[eight >> bits & 0xff] = e;
      eight += uint64_t{1} << bits;
    });
  }
  // What is out of order still. False: one was moved far, for many are of one slot.
  bool MoveDown() {
    PacketEvent* const to = current_.data();
    for (size_t i = 1; i < current_.size(); ++i) {
      if (!to[i].Before(to[i - 1])) continue;
      const PacketEvent e = to[i];
      size_t down = i;
      for (; down > 0 && e.Before(to[down - 1]); --down) to[down] = to[down - 1];
      to[down] = e;
      if (i - down > kMostMoved) return false;
    }
    return true;
  }
  // Wider buckets where few events are in one, narrower ones where many are: they are cheap to sort, and
  // still enough to look ahead.
  void Adapt() {
    const size_t mean = moved_ / turns_;
    moved_ = turns_ = 0;
    const bool narrower = mean > kCrowded && width_ > kNarrowest;
    if (!narrower && (mean >= kSparse || width_ >= kWidest)) return;
    std::vector<PacketEvent> all;
    for (size_t i = 0; i < ring_.size(); ++i) {
      ForEach(ring_[i], [&](const PacketEvent& e) { all.push_back(e); });
      Empty(i);
    }
    size_ -= all.size();
    in_ring_ = 0;
    bucket_ = (narrower ? (bucket_ + 1) << 1 : (bucket_ + 1) >> 1) - 1;
    width_ += narrower ? -1 : 1;
    for (const PacketEvent& e : all) Push(e);
  }

  int width_;
  int64_t bucket_ = -1;  // whose turn it is; all before it are done
  std::vector<PacketEvent> current_;
  size_t next_ = 0;      // in current_
  bool beyond_ = false;  // events of the next bucket have not been shown
  std::vector<Bucket> ring_;
  std::vector<Chunk> chunks_;
  std::vector<uint32_t> free_;  // chunks
  std::vector<uint64_t> used_;  // a bit a bucket of the ring
  size_t in_ring_ = 0, size_ = 0;
  size_t moved_ = 0, turns_ = 0;  // events and buckets since the last look
  HeapEvents far_;
};

}  // namespace chakra::packet
