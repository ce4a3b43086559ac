// Go-back-N: from the first packet that is missing, all are sent again.
#pragma once

#include <cstdint>

#include "backends/packet/ends/messages.h"
#include "backends/packet/ends/sender.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

// What a sender learns of its packets, where receivers take them in order alone.
class GoBackN {
 public:
  // The messages must outlive it.
  explicit GoBackN(Messages* messages) : messages_(*messages) {}

  // The receiver has all packets up to Packet::number. Fills Ack::acked; false: it was known.
  bool OnAck(const Packet& k, Sender* s, Ack* ack) {
    // By number, for a packet may be empty.
    if (k.number + 1 <= s->acked) return false;
    ack->acked = k.before - s->acked_bytes;
    s->acked_bytes = k.before;
    s->acked = k.number + 1;
    // After a rewind what was on the way all the same may arrive.
    if (s->acked > s->next) Rewind(s->acked, s->acked_bytes, s);
    s->in_flight = s->sent_bytes - s->acked_bytes;
    return true;
  }
  // The receiver asks for Packet::number, which comes after what it has. Fills in what is lost; false: that
  // is on its way.
  bool OnNack(const Packet& k, Sender* s, Loss* loss);
  // All that is in flight is lost.
  void OnTimeout(Sender* s, Loss* loss) {
    loss->bytes = s->in_flight;
    Rewind(s->acked, s->acked_bytes, s);
  }

  uint64_t again() const { return again_; }  // packets that are sent again

 private:
  // `bytes`: payload before packet `number`.
  void Rewind(uint64_t number, uint64_t bytes, Sender* s);

  Messages& messages_;
  uint64_t again_ = 0;
};

}  // namespace chakra::packet
