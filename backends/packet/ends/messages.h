// The messages that are under way, and what is reported about them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "backends/fabric.h"
#include "backends/packet/network/packet.h"

namespace chakra::packet {

struct Message {
  uint64_t tag = 0;
  uint64_t order = 0;      // number among all messages
  uint64_t bytes = 0;      // payload on the links
  uint64_t packets = 0;    // at least one
  uint64_t arrived = 0;    // packets at the receiver
  int64_t arrived_at = 0;  // ps: arrival of the last packet
  int64_t delay = 0;       // ps; see Flow::delay
  Bandwidth limit;         // see Flow::limit
  int64_t made_at = 0;  // ps: with a limit, when the last packet would leave after all of its payload is made
  uint32_t connection = 0;
  uint32_t next = kNoIndex;  // next message of the connection
  uint32_t acked = 0;        // acknowledged packets, if Connection::parked
  bool want_sent = false;
  bool received = false, acknowledged = false;

  uint32_t Payload(uint64_t packet, uint32_t mtu) const {
    return packet + 1 < packets ? mtu : static_cast<uint32_t>(bytes - (packets - 1) * mtu);
  }
};

// A report that a message was sent or received.
struct Told {
  int64_t at;  // ps
  uint64_t order;
  uint64_t tag;
  FlowEnd::Kind kind;
};

// A message's number is used again when the message is received and its sender knows that.
class Messages {
 public:
  uint32_t New() {
    ++open_;
    if (free_ == kNoIndex) {
      messages_.emplace_back();
      return static_cast<uint32_t>(messages_.size() - 1);
    }
    const uint32_t i = free_;
    free_ = messages_[i].next;
    messages_[i] = Message();
    return i;
  }
  Message& operator[](uint32_t i) { return messages_[i]; }
  const Message& operator[](uint32_t i) const { return messages_[i]; }

  // Reports an event of a message; kReceived only once.
  void Tell(uint32_t i, FlowEnd::Kind kind, int64_t now) {
    Message& m = messages_[i];
    told_.push_back({now, m.order, m.tag, kind});
    if (kind != FlowEnd::kReceived) return;
    m.received = true;
    --open_;
    if (m.acknowledged) Free(i);
  }
  // The sender has all acknowledgements.
  void Acknowledge(uint32_t i) {
    messages_[i].acknowledged = true;
    if (messages_[i].received) Free(i);
  }
  // Removes `packets` packets, which must not have been sent yet, from a message.
  void Cut(uint32_t i, uint64_t packets, uint32_t mtu) {
    messages_[i].packets -= packets;
    messages_[i].bytes -= packets * mtu;
  }

  // In the order in which it happened. The owner empties the list.
  std::vector<Told>& told() { return told_; }
  const std::vector<Told>& told() const { return told_; }
  uint64_t open() const { return open_; }  // messages that are not received yet
  // Counts `messages` more messages as open; NewExpected() then makes one of them.
  void Expect(uint64_t messages) { open_ += messages; }
  uint32_t NewExpected() {
    --open_;
    return New();
  }
  uint64_t MemoryBytes() const { return messages_.capacity() * sizeof(Message); }

 private:
  void Free(uint32_t i) { messages_[i].next = std::exchange(free_, i); }

  std::vector<Message> messages_;
  uint32_t free_ = kNoIndex;  // first of a list, linked by Message::next
  uint64_t open_ = 0;
  std::vector<Told> told_;
};

}  // namespace chakra::packet
