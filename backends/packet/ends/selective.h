// Selective repair: a packet that is lost is sent again, no other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/packet/ends/sender.h"
#include "backends/packet/ends/sent_window.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/options.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

// What senders learn of their packets, where receivers take them in any order.
class Selective {
 public:
  // `lossy`: packets may be lost without a word.
  Selective(const PacketOptions& options, bool lossy);

  // A new connection.
  void Begin(uint32_t connection) {
    if (connection < windows_.size()) {
      windows_[connection] = SentWindow();
    } else {
      windows_.resize(connection + 1);
    }
  }
  // A new packet leaves, the sender's next.
  void OnSent(uint32_t connection, const Sender& s, const Packet& k) {
    SentWindow& w = windows_[connection];
    w.Grow(s.acked, s.next + 1);
    w[s.next] = {k.message, k.payload, k.path, SentWindow::kFlying};
  }
  // Where some are lost: makes `k`, which takes a way already, the first of them.
  void TakeLost(uint32_t connection, Sender* s, Packet* k);
  // The receiver has Packet::number, and all before Packet::before. Adds to Ack::acked.
  void OnAck(uint32_t connection, const Packet& k, Sender* s, Ack* ack);
  // A packet came without its payload. Fills in what is lost; false: that is known.
  bool OnNack(uint32_t connection, const Packet& k, Sender* s, Loss* loss) {
    if (k.number >= s->next) return false;
    GiveUp(connection, k.number, s, loss);
    return loss->bytes > 0;
  }
  // All that is in flight is lost.
  void OnTimeout(uint32_t connection, Sender* s, Loss* loss) {
    for (uint64_t n = s->acked; n < s->next; ++n) GiveUp(connection, n, s, loss);
    loss->packet = s->acked;
  }
  // Packets are lost when later ones arrived long ago. Fills in which; false: none.
  bool FindOvertaken(uint32_t connection, Sender* s, Loss* loss);

  uint64_t again() const { return again_; }  // packets that were sent again

 private:
  // Takes a packet that is under way for lost.
  void GiveUp(uint32_t connection, uint64_t number, Sender* s, Loss* loss);
  // So many packets may arrive before one that was sent before them.
  uint64_t Apart(const Sender& s) const;

  uint32_t mtu_;
  bool one_way_;  // keeps the order of packets
  bool lossy_;
  std::vector<SentWindow> windows_;  // by connection
  uint64_t again_ = 0;
};

}  // namespace chakra::packet
