// Go-back-N: all packets from the first missing one on are sent again.
#pragma once

#include <cstdint>

#include "backends/packet/ends/messages.h"
#include "backends/packet/ends/sender.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

// The sender's part, for receivers that only accept packets in order.
class GoBackN {
 public:
  // `messages` must outlive this object.
  explicit GoBackN(Messages* messages) : messages_(*messages) {}

  // The receiver has all packets up to Packet::number. Sets Ack::acked; false: the sender knew that.
  bool OnAck(const Packet& k, Sender* s, Ack* ack) {
    // Compares numbers, because a packet may be empty.
    if (k.number + 1 <= s->acked) return false;
    ack->acked = k.before - s->acked_bytes;
    s->acked_bytes = k.before;
    s->acked = k.number + 1;
    // After a rewind, packets that were already under way may still arrive.
    if (s->acked > s->next) Rewind(s->acked, s->acked_bytes, s);
    s->in_flight = s->sent_bytes - s->acked_bytes;
    return true;
  }
  // The receiver requests Packet::number, the first packet that it misses. Sets what is lost; false: the
  // request is out of date.
  bool OnNack(const Packet& k, Sender* s, Loss* loss);
  // Everything in flight is lost.
  void OnTimeout(Sender* s, Loss* loss) {
    loss->bytes = s->in_flight;
    Rewind(s->acked, s->acked_bytes, s);
  }

  uint64_t again() const { return again_; }  // packets that are sent again

 private:
  // Continues sending at packet `number`. `bytes`: payload before this packet.
  void Rewind(uint64_t number, uint64_t bytes, Sender* s);

  Messages& messages_;
  uint64_t again_ = 0;
};

}  // namespace chakra::packet
