// A packet on its way, and where packets are kept.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/packet/transports/transport.h"

namespace chakra {

constexpr uint32_t kNoIndex = 0xffffffff;

// One cache line. A packet of data becomes its own acknowledgement at the receiver.
struct alignas(64) Packet {
  enum Kind : uint8_t { kData, kAck, kNack };
  enum Flag : uint8_t {
    kMarked = 1,   // met congestion
    kCnp = 2,      // of an acknowledgement: the receiver notifies
    kLast = 4,     // of its message
    kTrimmed = 8,  // its payload was cut off
  };
  uint64_t number = 0;  // of the data packet in its connection
  uint64_t before =
      0;  // of an acknowledgement: payload that arrived in order; of data: of its connection before it
  int64_t left = 0;  // the card; ps
  uint32_t connection = 0;
  uint32_t message = 0;
  uint32_t bytes = 0;        // on a link
  uint32_t payload = 0;      // of an acknowledgement: that it acknowledges
  uint32_t ports = 0;        // where its path begins, in PathTable
  uint32_t next = kNoIndex;  // in a queue
  uint32_t telemetry = kNoIndex;
  uint16_t path = 0;  // of its connection
  uint8_t hop = 0;    // of its path, from 0
  uint8_t hops = 0;
  Kind kind = kData;
  uint8_t flags = 0;
  uint8_t traffic_class = 0;
  uint32_t generation = 0;  // of its connection
};
static_assert(sizeof(Packet) == 64);

// Packets and telemetry by index; what is given back is used again first.
class PacketPool {
 public:
  uint32_t Take() {
    if (free_.empty()) {
      packets_.emplace_back();
      return static_cast<uint32_t>(packets_.size() - 1);
    }
    const uint32_t i = free_.back();
    free_.pop_back();
    packets_[i] = Packet();
    return i;
  }
  void Give(uint32_t i) {
    if (packets_[i].telemetry != kNoIndex) free_telemetry_.push_back(packets_[i].telemetry);
    free_.push_back(i);
  }
  Packet& operator[](uint32_t i) { return packets_[i]; }
  const Packet& operator[](uint32_t i) const { return packets_[i]; }

  void Prefetch(uint32_t i) const { __builtin_prefetch(&packets_[i]); }

  uint32_t TakeTelemetry() {
    if (free_telemetry_.empty()) {
      telemetry_.emplace_back();
      return static_cast<uint32_t>(telemetry_.size() - 1);
    }
    const uint32_t i = free_telemetry_.back();
    free_telemetry_.pop_back();
    telemetry_[i].hops = 0;
    return i;
  }
  Telemetry& telemetry(uint32_t i) { return telemetry_[i]; }

  size_t in_flight() const { return packets_.size() - free_.size(); }
  size_t most_in_flight() const { return packets_.size(); }
  uint64_t MemoryBytes() const {
    return packets_.capacity() * sizeof(Packet) + free_.capacity() * sizeof(uint32_t) +
           telemetry_.capacity() * sizeof(Telemetry);
  }

 private:
  std::vector<Packet> packets_;
  std::vector<uint32_t> free_, free_telemetry_;
  std::vector<Telemetry> telemetry_;
};

}  // namespace chakra
