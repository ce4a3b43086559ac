// What the sender of a connection knows.
#pragma once

#include <cstdint>

#include "backends/packet/ends/messages.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

// Packets are numbered from 0 over all messages of the connection.
struct Sender {
  Control control;
  uint64_t next = 0;                          // packet: the next new one
  uint64_t acked = 0;                         // packets: all before have arrived
  uint64_t in_flight = 0;                     // payload bytes
  int64_t pace_at = 0;                        // ps: no packet before
  int64_t made_at = 0;                        // ps: when its next payload is made, by Message::limit
  int64_t deadline = 0;                       // ps: then what is in flight is given up
  uint64_t sent_bytes = 0, acked_bytes = 0;   // go-back-N: payload before `next` and before `acked`
  uint64_t message_first = 0;                 // packet: the first of `message`
  uint64_t head_first = 0;                    // packet: the first of `head`
  int64_t timer_posted = 0;                   // ps; 0: none
  uint32_t message = kNoIndex;                // that is being sent; none: nothing to send
  uint32_t head = kNoIndex, tail = kNoIndex;  // messages not yet acknowledged
  uint32_t connection = 0;                    // kNoIndex: it has ended
  uint32_t port = 0;
  uint32_t ring_next = kNoIndex;  // sender
  uint32_t lost = 0;              // selective: packets to be sent again
  uint32_t turns = 0;             // kPacket: packets sent, for the way of the next
  uint32_t chosen_epoch = 0;
  uint16_t path = 0;  // of the next packet, where it is chosen
  bool chosen : 1 = false;
  bool in_ring : 1 = false, pace_posted : 1 = false, timeout_posted : 1 = false;

  // A message is to be sent after all others.
  void Append(uint32_t m, Messages* messages) {
    if (tail == kNoIndex) {
      head = m;
      head_first = next;
    } else {
      (*messages)[tail].next = m;
    }
    tail = m;
    if (message == kNoIndex) {
      message = m;
      message_first = next;
    }
  }
  // Of a message of this sender: packets that have not been sent yet.
  uint64_t Unsent(uint32_t m, const Messages& messages) const {
    // Those before the one that is being sent are all sent, those behind it not at all.
    if (message == m) return messages[m].packets - (next - message_first);
    for (uint32_t i = message; i != kNoIndex; i = messages[i].next) {
      if (i == m) return messages[m].packets;
    }
    return 0;
  }
  // Messages of which all packets are acknowledged are done.
  void DropAcknowledged(Messages* messages) {
    while (head != kNoIndex && head_first + (*messages)[head].packets <= acked) {
      const uint32_t m = head;
      head_first += (*messages)[m].packets;
      head = (*messages)[m].next;
      if (head == kNoIndex) tail = kNoIndex;
      messages->Acknowledge(m);
    }
  }
};

}  // namespace chakra::packet
