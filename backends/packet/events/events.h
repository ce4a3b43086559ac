// Events of 16 bytes, and two kinds of queues for them.
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

// Events are ordered by their contents, never by when they were posted, so the order is the same for any
// number of threads.
struct PacketEvent {
  // Events at one instant are in this order.
  enum Kind : uint32_t {
    kArrive,   // a packet (argument) arrives at the end of a port's link
    kSignal,   // a pause, resumption or credit for a port
    kFree,     // a port may send its next packet
    kPace,     // a connection may send again
    kTimeout,  // of a connection
    kTimer,    // of a connection's transport
    kSent,     // the last byte of a message has left
    kReceived,
  };
  static constexpr uint32_t kKindShift = 29;

  int64_t at;   // ps
  uint32_t id;  // kind, and number of a port, connection or message
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
  // Whether the first event is at or before `last`; then Pop() returns it.
  bool HasUpTo(int64_t last) const { return at() <= last; }
  // Promises that nothing will be pushed before `t`, and that no event before `t` is left.
  void Begin(int64_t /*t*/) {}
  uint64_t MemoryBytes() const { return heap_.MemoryBytes(); }
  void Push(PacketEvent e) { heap_.Push(e); }
  // The first events, at most `most`, as far as they are cheap to find. Call it after HasUpTo().
  std::span<const PacketEvent> Coming(size_t /*most*/) const { return {}; }
  // Calls `f` for some events after those of Coming(), as far as they are cheap to find, in no order.
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

// Time is cut into buckets. A ring holds the buckets that come soon; a heap holds all later events. A bucket
// is sorted when its turn comes. (R. Brown, "Calendar queues", CACM 1988, with buckets of a fixed width and a
// heap for far events.)
class BucketEvents {
 public:
  // A bucket is 2^`width` ps; the ring holds 2^12 of them.
  explicit BucketEvents(int width = 14) : width_(width), ring_(kBuckets), used_(kBuckets / 64) {}

  bool empty() const { return size_ == 0; }
  // The time of the first event; the maximum value if there is none.
  int64_t at() const {
    if (next_ < current_.size()) return current_[next_].at;
    int64_t first = far_.at();
    if (in_ring_ == 0) return first;
    const auto bucket = static_cast<size_t>(FirstInRing()) % kBuckets;
    ForEach(ring_[bucket], [&](const PacketEvent& e) { first = std::min(first, e.at); });
    return first;
  }
  // Whether the first event is at or before `last`; then Pop() returns it. Never begins a bucket after
  // `last`, so that pushing earlier events stays cheap.
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
  // Promises that nothing will be pushed before `t`, and that no event before `t` is left.
  void Begin(int64_t t) {
    if (next_ == current_.size()) bucket_ = std::max(bucket_, (t >> width_) - 1);
  }
  uint64_t MemoryBytes() const {
    return chunks_.capacity() * sizeof(Chunk) + current_.capacity() * sizeof(PacketEvent) +
           ring_.capacity() * sizeof(Bucket) + far_.MemoryBytes();
  }
  // By value, in registers: loading the whole event from memory would wait for the stores of its parts.
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
  // Call it only after HasUpTo() returned true.
  PacketEvent Pop() {
    --size_;
    return current_[next_++];
  }

 private:
  static constexpr int64_t kBuckets = 1 << 12;

  static constexpr uint32_t kNone = 0xffffffff;
  // Events of a bucket. The chunk freed last is used first, because it is still in the cache.
  struct alignas(64) Chunk {
    static constexpr uint32_t kMost = 15;
    PacketEvent events[kMost];
    uint32_t next;  // next chunk of the bucket, in a ring
  };
  static_assert(sizeof(Chunk) == 256);
  // The number of events in the last chunk is stored here, so that an event can be added without reading the
  // chunk, which may not be in the cache.
  struct Bucket {
    uint32_t last = kNone;  // last chunk
    uint32_t count = Chunk::kMost;
  };
  // Events in a bucket: above kCrowded buckets get narrower, below kSparse wider.
  static constexpr size_t kCrowded = 64, kSparse = 20;
  static constexpr size_t kLook = 1024;               // events between two calls of Adapt()
  static constexpr int kNarrowest = 8, kWidest = 20;  // 256 ps, 1 us
  static constexpr int kSlotWidth = 6;  // bits of the slot's number; a bucket is sorted by slots of time
  static constexpr size_t kSlots = size_t{1} << kSlotWidth;
  // Maximum number of events for Deal(), which counts them in bytes.
  static constexpr size_t kMostDealt = 255;
  static constexpr size_t kMostMoved = 16;  // maximum distance by which MoveDown() moves an event

  // Adds an event to the current bucket.
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
  // Returns the first bucket of the ring that has events, counted from bucket_.
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
    // Moves the events of this bucket from the heap to the ring. If the ring does not reach that far yet, it
    // is empty.
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
  // Calls `f` for each event of the bucket, in the order of Push().
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
  // Sorts a bucket's events into current_. A branch on which of two events is first is taken half of the
  // time, and a misprediction costs as much as all other work for an event; so most of the sorting needs no
  // branches.
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
  // Distributes the events to slots of time. `places` first holds the number of events in each slot (one byte
  // a slot, 8 in a word), and then the position of the next event of each slot.
  void Deal(const Bucket& bucket, std::array<uint64_t, kSlots / 8>* places) {
    constexpr uint64_t kEach = 0x0101010101010101;
    uint64_t before = 0;
    for (uint64_t& eight : *places) {
      const uint64_t sums = eight * kEach;  // up to and including each slot
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
  // Sorts the rest by insertion. False: an event was far from its place, because one slot has many events.
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
  // Makes buckets wider if they have few events, and narrower if they have many. Buckets should be cheap to
  // sort but have enough events to look ahead.
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
  int64_t bucket_ = -1;  // current bucket; all before it are done
  std::vector<PacketEvent> current_;
  size_t next_ = 0;      // in current_
  bool beyond_ = false;  // events of the next bucket have not been given to ForEachBeyond() yet
  std::vector<Bucket> ring_;
  std::vector<Chunk> chunks_;
  std::vector<uint32_t> free_;  // unused chunks
  std::vector<uint64_t> used_;  // buckets of the ring with events, one bit each
  size_t in_ring_ = 0, size_ = 0;
  size_t moved_ = 0, turns_ = 0;  // events and buckets since the last Adapt()
  HeapEvents far_;
};

}  // namespace chakra::packet
