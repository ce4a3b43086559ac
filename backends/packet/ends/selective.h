// Selective repair: only lost packets are sent again.
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

// The sender's part, for receivers that accept packets in any order.
class Selective {
 public:
  // `lossy`: packets may be lost without a notification.
  Selective(const PacketOptions& options, bool lossy);

  // Begins a new connection.
  void Begin(uint32_t connection) {
    if (connection < windows_.size()) {
      windows_[connection] = SentWindow();
    } else {
      windows_.resize(connection + 1);
    }
  }
  // A new packet leaves: number Sender::next.
  void OnSent(uint32_t connection, const Sender& s, const Packet& k) {
    SentWindow& w = windows_[connection];
    w.Grow(s.acked, s.next + 1);
    w[s.next] = {k.message, k.payload, k.path, SentWindow::kFlying};
  }
  // Makes `k`, which already has a path, the first lost packet of the connection. There must be one.
  void TakeLost(uint32_t connection, Sender* s, Packet* k);
  // The receiver has Packet::number, and all packets before Packet::before. Adds to Ack::acked.
  void OnAck(uint32_t connection, const Packet& k, Sender* s, Ack* ack);
  // A packet arrived without its payload. Sets what is lost; false: the sender knew that.
  bool OnNack(uint32_t connection, const Packet& k, Sender* s, Loss* loss) {
    if (k.number >= s->next) return false;
    GiveUp(connection, k.number, s, loss);
    return loss->bytes > 0;
  }
  // Everything in flight is lost.
  void OnTimeout(uint32_t connection, Sender* s, Loss* loss) {
    for (uint64_t n = s->acked; n < s->next; ++n) GiveUp(connection, n, s, loss);
    loss->packet = s->acked;
  }
  // Finds packets that count as lost, because enough later ones have arrived. Sets what is lost; false: none.
  bool FindOvertaken(uint32_t connection, Sender* s, Loss* loss);

  uint64_t again() const { return again_; }  // packets sent again

 private:
  // Counts a packet under way as lost.
  void GiveUp(uint32_t connection, uint64_t number, Sender* s, Loss* loss);
  // The number of later packets that may arrive before a packet counts as lost.
  uint64_t Apart(const Sender& s) const;

  uint32_t mtu_;
  bool one_way_;  // packets stay in order
  bool lossy_;
  std::vector<SentWindow> windows_;  // by connection
  uint64_t again_ = 0;
};

}  // namespace chakra::packet
