// The receivers of connections: which packets they accept, and their answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/packet/network/packet.h"
#include "backends/packet/options.h"

namespace chakra::packet {

struct Receiver {
  uint64_t expected = 0;        // next packet in order
  uint64_t expected_bytes = 0;  // payload before it
  uint32_t unanswered = 0;      // packets since the last acknowledgement
};

// Additional state of a receiver, if packets are marked, overtaken or lost.
struct Disorder {
  uint64_t asked = ~uint64_t{0};  // packet of the last request
  int64_t asked_at = 0;           // ps
  int64_t notified_at = -1;       // ps: last notification of marks; -1: never
  std::vector<uint64_t> early;    // selective: one bit for each packet after `expected`, modulo its size
};

class Receivers {
 public:
  enum class Answer : uint8_t { kNone, kAck, kNack };
  struct Taken {
    bool is_new;  // the packet arrived for the first time
    Answer answer;
  };

  explicit Receivers(const PacketOptions& options);

  // Begins a new connection.
  void Begin(uint32_t connection) {
    if (connection < disorders_.size()) disorders_[connection] = Disorder();
    if (connection < receivers_.size()) {
      receivers_[connection] = Receiver();
    } else {
      receivers_.resize(connection + 1);
    }
  }
  // Handles a data packet. If it is to be answered, sets Packet::number to the subject of the answer.
  Taken Take(Packet* k, int64_t now) {
    Receiver& r = receivers_[k->connection];
    if (selective_) {
      if ((k->flags & Packet::kTrimmed) != 0) return {false, Answer::kNack};
      return {TakeInAnyOrder(*k), Answer::kAck};
    }
    if (k->number != r.expected || (k->flags & Packet::kTrimmed) != 0) return {false, OutOfOrder(k, &r, now)};
    ++r.expected;
    r.expected_bytes += k->payload;
    ++r.unanswered;
    // The sender must learn of marks at once.
    const bool at_once = (k->flags & (Packet::kLast | Packet::kMarked)) != 0;
    return {true, at_once || r.unanswered >= ack_every_ ? Answer::kAck : Answer::kNone};
  }
  // Turns a data packet into its own acknowledgement or request, except for the path back.
  void Turn(Packet* k, Answer answer, int64_t now) {
    Receiver& r = receivers_[k->connection];
    k->kind = answer == Answer::kNack ? Packet::kNack : Packet::kAck;
    k->before = selective_ ? r.expected : r.expected_bytes;
    k->bytes = ack_bytes_;
    k->traffic_class = PacketOptions::kControlClass;
    k->hop = 0;
    r.unanswered = 0;
    if ((k->flags & Packet::kMarked) != 0 && cnp_gap_ > 0) Notify(k, now);
  }
  uint64_t MemoryBytes() const {
    return receivers_.capacity() * sizeof(Receiver) + disorders_.capacity() * sizeof(Disorder);
  }

 private:
  Answer OutOfOrder(Packet* k, Receiver* r, int64_t now);
  // False: the packet had already arrived.
  bool TakeInAnyOrder(const Packet& k) {
    Receiver& r = receivers_[k.connection];
    if (k.number < r.expected) return false;
    const bool early = k.connection < disorders_.size() && !disorders_[k.connection].early.empty();
    if (k.number != r.expected || early) return TakeEarly(k.number, &r, &DisorderOf(k.connection)->early);
    ++r.expected;
    return true;
  }
  static bool TakeEarly(uint64_t number, Receiver* r, std::vector<uint64_t>* early);
  // Makes the acknowledgement a notification of marks, if the last one is long enough ago.
  void Notify(Packet* k, int64_t now);
  Disorder* DisorderOf(uint32_t connection) {
    if (disorders_.size() <= connection) disorders_.resize(receivers_.size());
    return &disorders_[connection];
  }

  bool selective_;
  uint32_t ack_every_, ack_bytes_;
  int64_t cnp_gap_;                  // ps: minimum time between two notifications of marks; 0: none are sent
  std::vector<Receiver> receivers_;  // by connection
  std::vector<Disorder> disorders_;  // by connection; only as long as needed
};

}  // namespace chakra::packet
