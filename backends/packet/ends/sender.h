// The state of the sender of a connection.
#pragma once

#include <cstdint>

#include "backends/packet/ends/messages.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

// Packets are numbered from 0 over all messages of the connection.
struct Sender {
  Control control;
  uint64_t next = 0;                          // number of the next new packet
  uint64_t acked = 0;                         // all packets before this number have arrived
  uint64_t in_flight = 0;                     // payload bytes
  int64_t pace_at = 0;                        // ps: no packet may leave before
  int64_t made_at = 0;                        // ps: with Message::limit, when the next payload is made
  int64_t deadline = 0;                       // ps: time at which everything in flight counts as lost
  uint64_t sent_bytes = 0, acked_bytes = 0;   // go-back-N: payload before `next` and before `acked`
  uint64_t message_first = 0;                 // number of the first packet of `message`
  uint64_t head_first = 0;                    // number of the first packet of `head`
  int64_t timer_posted = 0;                   // ps; 0: none
  uint32_t message = kNoIndex;                // message that is being sent; kNoIndex: nothing to send
  uint32_t head = kNoIndex, tail = kNoIndex;  // messages that are not yet acknowledged
  uint32_t connection = 0;                    // kNoIndex: the connection has ended
  uint32_t port = 0;
  uint32_t ring_next = kNoIndex;  // next sender in the ring
  uint32_t lost = 0;              // selective: number of packets to be sent again
  uint32_t turns = 0;             // kPacket, kAdaptive: packets sent, to choose the next path
  uint32_t chosen_epoch = 0;
  uint16_t path = 0;  // of the next packet, if `chosen`
  bool chosen : 1 = false;
  bool in_ring : 1 = false, pace_posted : 1 = false, timeout_posted : 1 = false;

  // Adds a message that is to be sent after all others.
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
  // The packets of a message of this sender that have not been sent yet.
  uint64_t Unsent(uint32_t m, const Messages& messages) const {
    // Messages before `message` are completely sent; messages after it are not sent at all.
    if (message == m) return messages[m].packets - (next - message_first);
    for (uint32_t i = message; i != kNoIndex; i = messages[i].next) {
      if (i == m) return messages[m].packets;
    }
    return 0;
  }
  // Removes messages whose packets are all acknowledged.
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
