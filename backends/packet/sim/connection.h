// The two ends of a connection, and the messages that go over it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/packet/options.h"
#include "backends/packet/network/packet.h"

namespace chakra::packet {

struct Message {
  uint64_t tag = 0;
  uint64_t order = 0;      // of all messages
  uint64_t bytes = 0;      // of payload on the links
  uint64_t packets = 0;    // at least one
  uint64_t arrived = 0;    // packets, at the receiver
  int64_t arrived_at = 0;  // ps: the last of them
  int64_t delay = 0;       // ps, see Flow
  uint32_t connection = 0;
  uint32_t next = kNoIndex;  // of the connection
  bool want_sent = false;
  bool received = false, acknowledged = false;

  uint32_t Payload(uint64_t packet, uint32_t mtu) const {
    return packet + 1 < packets ? mtu : static_cast<uint32_t>(bytes - (packets - 1) * mtu);
  }
};

// A way there and the way back of its acknowledgements: runs of PacketSim::path_ports().
struct Way {
  uint32_t ports = 0, back = 0;
  uint8_t hops = 0, hops_back = 0;
  bool known = false;
  bool found = false;
  uint32_t epoch = 0;  // of the routes

  // There, then back; `paths`: path_ports().
  void AppendPorts(const std::vector<uint32_t>& paths, std::vector<uint32_t>* to) const {
    to->insert(to->end(), paths.begin() + ports, paths.begin() + ports + hops);
    to->insert(to->end(), paths.begin() + back, paths.begin() + back + hops_back);
  }
};

// Packets are numbered from 0 over all messages of the connection.
struct Sender {
  Control control;
  uint64_t next = 0;                          // packet: the next new one
  uint64_t acked = 0;                         // packets: all before have arrived
  uint64_t in_flight = 0;                     // payload bytes
  int64_t pace_at = 0;                        // ps: no packet before
  int64_t deadline = 0;                       // ps: then what is in flight is given up
  uint64_t sent_bytes = 0, acked_bytes = 0;   // go-back-N: payload before `next` and before `acked`
  uint64_t message_first = 0;                 // packet: the first of `message`
  uint64_t head_first = 0;                    // packet: the first of `head`
  uint32_t message = kNoIndex;                // that is being sent; none: nothing to send
  uint32_t head = kNoIndex, tail = kNoIndex;  // messages not yet acknowledged
  uint32_t port = 0;
  uint32_t ring_next = kNoIndex;
  uint32_t lost = 0;   // selective: packets to be sent again
  uint32_t turns = 0;  // kPacket: packets sent, for the way of the next
  uint16_t path = 0;   // of the next packet, where it is chosen
  bool chosen = false;
  uint32_t chosen_epoch = 0;
  bool in_ring = false, pace_posted = false, timeout_posted = false;
  int64_t timer_posted = 0;  // ps; 0: none
};

// Selective: the packets from Sender::acked on.
class SentWindow {
 public:
  enum State : uint8_t { kFlying, kArrived, kLost, kAgain };
  struct Sent {
    uint32_t message;
    uint32_t payload;
    uint16_t path;
    State state;
    uint8_t times = 0;  // that it was sent again, modulo 256
  };
  Sent& operator[](uint64_t number) { return sent_[number & (sent_.size() - 1)]; }
  // Room for packets [acked, next), the last of which is new.
  void Grow(uint64_t acked, uint64_t next) {
    if (next - acked < sent_.size()) return;
    std::vector<Sent> larger(sent_.empty() ? 64 : sent_.size() * 2);
    for (uint64_t n = acked; n + 1 < next; ++n) larger[n & (larger.size() - 1)] = (*this)[n];
    sent_.swap(larger);
  }
  uint64_t lost_from = 0;  // no lost packet before
  uint64_t highest = 0;    // packets: one more than the last that arrived
  uint64_t checked = 0;    // packets before are not looked at for reordering again

  // What was sent again, in this order, from `resent_from` on.
  struct Resent {
    uint64_t number;
    uint64_t before;  // packets from here on were sent later
    uint8_t times;
  };
  std::vector<Resent> resent;
  size_t resent_from = 0;
  // The oldest of them, once packets that were sent `apart` or more after it have arrived; else none.
  std::optional<Resent> TakeOvertaken(uint64_t apart) {
    if (resent_from == resent.size() || resent[resent_from].before + apart >= highest) return std::nullopt;
    const Resent oldest = resent[resent_from++];
    // What was taken goes when it is the larger part.
    if (2 * resent_from >= resent.size()) {
      resent.erase(resent.begin(), resent.begin() + static_cast<std::ptrdiff_t>(resent_from));
      resent_from = 0;
    }
    return oldest;
  }

 private:
  std::vector<Sent> sent_;
};

struct Receiver {
  uint64_t expected = 0;          // packet
  uint64_t expected_bytes = 0;    // payload before it
  uint64_t asked = ~uint64_t{0};  // the packet that the last request was for
  int64_t asked_at = 0;           // ps
  int64_t notified_at = -1;       // ps; -1: never
  uint32_t unanswered = 0;        // packets since the last acknowledgement
  uint32_t unanswered_payload = 0;
  std::vector<uint64_t> early;  // selective: a bit for each packet after `expected`, modulo its size
};

// What does not change, or seldom.
struct Connection {
  uint64_t tag = 0;
  uint32_t generation = 0;
  uint32_t ways = 0;  // the first of its ways
  int src = 0, dst = 0;
  uint8_t traffic_class = 1;
  bool begun = false;    // has its transport
  bool cut_off = false;  // has no way
};

}  // namespace chakra::packet
