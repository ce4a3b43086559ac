// A packet under way, and the memory for packets.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/packet/transports/transport.h"
#include "trace/base/prefetch.h"

namespace chakra::packet {

constexpr uint32_t kNoIndex = 0xffffffff;

// One cache line. A data packet becomes its own acknowledgement at the receiver.
struct alignas(64) Packet {
  enum Kind : uint8_t { kData, kAck, kNack };
  enum Flag : uint8_t {
    kMarked = 1,   // marked for congestion
    kCnp = 2,      // acknowledgement: notifies the sender of marks
    kLast = 4,     // last packet of its message
    kTrimmed = 8,  // the payload was cut off
    kLost = 16,    // will not arrive at the other end of its current link
  };
  uint64_t number = 0;  // number of the data packet in its connection
  uint64_t before = 0;  // acknowledgement: payload that arrived in order; data: payload before it
  int64_t left = 0;     // ps: time at which it left the NIC
  uint32_t connection = 0;
  uint32_t message = 0;
  uint32_t bytes = 0;        // bytes on a link
  uint32_t payload = 0;      // acknowledgement: the payload that it acknowledges
  uint32_t ports = 0;        // begin of its path in PathTable
  uint32_t next = kNoIndex;  // next packet in a queue
  uint32_t telemetry = kNoIndex;
  uint16_t path = 0;  // number of its path in the connection
  uint8_t hop = 0;    // current hop of its path, from 0
  uint8_t hops = 0;
  Kind kind = kData;
  uint8_t flags = 0;
  uint8_t traffic_class = 0;
  uint32_t generation = 0;  // of its connection
};
static_assert(sizeof(Packet) == 64);

// Values by index, in blocks that never move: one thread may add values while others use existing ones.
template <typename T>
class StableArray {
 public:
  StableArray() = default;
  StableArray(const StableArray&) = delete;
  StableArray& operator=(const StableArray&) = delete;
  ~StableArray() {
    static_assert(std::is_trivially_destructible_v<T>);
    for (uint32_t b = 0; b < kBlocks; ++b) {
      if (blocks_[b] != nullptr) std::allocator<T>().deallocate(blocks_[b], kFirst << b);
    }
  }
  // Block b holds kFirst * 2^b values.
  T& operator[](uint32_t i) const {
    i += kFirst;
    const auto b = static_cast<uint32_t>(std::bit_width(i)) - kFirstWidth;
    return blocks_[b][i - (kFirst << b)];
  }
  // Adds a value; returns its index.
  uint32_t Add() {
    const uint32_t i = size_ + kFirst;
    const auto b = static_cast<uint32_t>(std::bit_width(i)) - kFirstWidth;
    if (blocks_[b] == nullptr) {
      blocks_[b] = std::allocator<T>().allocate(kFirst << b);
      capacity_ += kFirst << b;
    }
    std::construct_at(blocks_[b] + (i - (kFirst << b)));
    return size_++;
  }
  uint32_t size() const { return size_; }
  uint64_t MemoryBytes() const { return capacity_ * sizeof(T); }

 private:
  static constexpr uint32_t kFirst = 1 << 10, kFirstWidth = 11, kBlocks = 22;

  std::array<T*, kBlocks> blocks_{};
  uint64_t capacity_ = 0;
  uint32_t size_ = 0;
};

// Packets and telemetry by index. The index given back last is used first. One thread takes and gives back;
// others may use their packets meanwhile.
class PacketPool {
 public:
  uint32_t Take() {
    ++in_flight_;
    if (free_ == kNoIndex) return packets_.Add();
    const uint32_t i = free_;
    free_ = packets_[i].next;
    packets_[i] = Packet();
    return i;
  }
  void Give(uint32_t i) {
    if (packets_[i].telemetry != kNoIndex) free_telemetry_.push_back(packets_[i].telemetry);
    packets_[i].next = std::exchange(free_, i);
    --in_flight_;
  }
  Packet& operator[](uint32_t i) const { return packets_[i]; }

  void Prefetch(uint32_t i) const { PrefetchToWrite(&packets_[i]); }

  uint32_t TakeTelemetry() {
    if (free_telemetry_.empty()) return telemetry_.Add();
    const uint32_t i = free_telemetry_.back();
    free_telemetry_.pop_back();
    telemetry_[i].hops = 0;
    return i;
  }
  Telemetry& telemetry(uint32_t i) const { return telemetry_[i]; }

  size_t in_flight() const { return in_flight_; }
  size_t most_in_flight() const { return packets_.size(); }
  uint64_t MemoryBytes() const { return packets_.MemoryBytes() + telemetry_.MemoryBytes(); }

 private:
  StableArray<Packet> packets_;
  StableArray<Telemetry> telemetry_;
  alignas(64) uint32_t free_ = kNoIndex;  // first of a list, linked by Packet::next
  uint32_t in_flight_ = 0;
  std::vector<uint32_t> free_telemetry_;
};

}  // namespace chakra::packet
