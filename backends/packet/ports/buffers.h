// Room in the buffers of switches, and the pauses with which lossless switches keep it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/packet/network/network.h"
#include "backends/packet/options.h"

namespace chakra::packet {

// A packet takes room when it must wait in a switch, and gives it back when it leaves. The ports of a switch
// share its buffer with dynamic thresholds (Choudhury, Hahne, IEEE/ACM ToN 1998): without flow control a
// queue may have up to `alpha` times the free bytes. With priority flow control (IEEE 802.1Qbb) this
// threshold applies to the packets that came over one link; above it there is headroom until the pause that
// the switch requests takes effect.
class Buffers {
 public:
  // What to request from the other end of the link over which a packet came.
  enum class Ask : uint8_t { kNothing, kPause, kResume };

  // `network` must outlive this object.
  Buffers(PacketNetwork* network, const PacketOptions& options)
      : network_(*network),
        options_(options),
        wire_(options.Wire()),
        shared_(options.buffer > 0),
        pfc_(options.flow_control == PacketOptions::FlowControl::kPfc) {}

  // Takes room for `bytes` of a data class that came over port `in` of a switch and will wait in a queue of
  // `queued` bytes. False: there is no room.
  bool Take(Node* node, uint32_t in, uint32_t traffic_class, uint32_t bytes, uint64_t queued, Ask* ask) {
    if (!shared_) return true;
    if (pfc_) return TakeIngress(node, in, traffic_class, bytes, ask);
    const auto left = static_cast<double>(node->pool > node->buffered ? node->pool - node->buffered : 0);
    return static_cast<double>(queued + bytes) <= options_.alpha * left &&
           node->buffered + bytes <= node->pool;
  }

  // Gives back the room that Take() took.
  Ask Give(Node* node, uint32_t in, uint32_t traffic_class, uint32_t bytes) {
    if (!shared_ || !pfc_) return Ask::kNothing;
    PortCredit& q = network_.credit(in, traffic_class);
    uint64_t left = bytes;
    const uint64_t of_headroom = std::min<uint64_t>(left, q.ingress_headroom);
    q.ingress_headroom -= of_headroom;
    left -= of_headroom;
    const uint64_t before = q.Shared(options_.reserved);
    q.ingress -= left;
    const uint64_t after = q.Shared(options_.reserved);
    node->shared -= before - after;
    return q.asked_to_pause ? LookAtPause(*node, in, traffic_class) : Ask::kNothing;
  }

 private:
  double Threshold(const Node& node, uint32_t in) const {
    const double dynamic =
        options_.alpha * static_cast<double>(node.pool > node.shared ? node.pool - node.shared : 0);
    const double fixed = options_.xoff.Of(network_.info(in).rate);
    return fixed > 0 ? std::min(fixed, dynamic) : dynamic;
  }

  bool TakeIngress(Node* node, uint32_t in, uint32_t traffic_class, uint32_t bytes, Ask* ask) {
    PortCredit& q = network_.credit(in, traffic_class);
    const uint64_t before = q.Shared(options_.reserved);
    const uint64_t after = q.Shared(options_.reserved, bytes);
    const bool fits =
        static_cast<double>(after) <= Threshold(*node, in) && node->shared + after - before <= node->pool;
    if (after == 0 || (fits && q.ingress_headroom == 0)) {
      q.ingress += bytes;
      node->shared += after - before;
    } else {
      const LinkClass& c = network_.topology().link_classes()[network_.info(in).link_class];
      if (q.ingress_headroom + bytes > network_.Headroom(c)) return false;
      q.ingress_headroom += bytes;
    }
    *ask = LookAtPause(*node, in, traffic_class);
    return true;
  }

  Ask LookAtPause(const Node& node, uint32_t in, uint32_t traffic_class) {
    PortCredit& q = network_.credit(in, traffic_class);
    const auto shared = static_cast<double>(q.Shared(options_.reserved));
    const double threshold = Threshold(node, in);
    if (!q.asked_to_pause) {
      if (q.ingress_headroom == 0 && (shared == 0 || shared + wire_ <= threshold)) return Ask::kNothing;
      q.asked_to_pause = true;
      return Ask::kPause;
    }
    const double gap = options_.xon_gap > 0 ? options_.xon_gap : 2.0 * wire_;
    if (q.ingress_headroom > 0 || (shared > 0 && shared + gap > threshold)) return Ask::kNothing;
    q.asked_to_pause = false;
    return Ask::kResume;
  }

  PacketNetwork& network_;
  PacketOptions options_;
  uint32_t wire_;
  bool shared_, pfc_;
};

}  // namespace chakra::packet
