// PacketSim: senders.
#include <algorithm>
#include <cmath>

#include "backends/packet/sim/sim.h"

namespace chakra::packet {

template <typename Events>
bool PacketSim<Events>::CanSend(const Sender& s) const {
  if (s.lost == 0 && s.message == kNoIndex) return false;
  // As many packets as one acknowledgement waits for may always be under way.
  return s.in_flight <= (options_.ack_every - 1) * uint64_t{mtu_} ||
         static_cast<double>(s.in_flight + mtu_) <= s.control.window ||
         (s.message != kNoIndex && s.lost == 0 &&
          static_cast<double>(s.in_flight + messages_[s.message].Payload(s.next - s.message_first, mtu_)) <=
              s.control.window);
}

template <typename Events>
void PacketSim<Events>::AddToRing(uint32_t i) {
  Sender& s = senders_[i];
  const uint8_t c = connections_[i].traffic_class;
  PortQueue& q = network_->queue(s.port, c);
  if (q.ring == kNoIndex) {
    s.ring_next = i;
  } else {
    s.ring_next = senders_[q.ring].ring_next;
    senders_[q.ring].ring_next = i;
  }
  q.ring = i;
  s.in_ring = true;
  port(s.port).ready |= static_cast<uint8_t>(1u << c);
}

// Waits for its turn at its card, or for its pace.
template <typename Events>
void PacketSim<Events>::MayBeReady(uint32_t i) {
  Sender& s = senders_[i];
  if (s.in_ring || !connections_[i].begun || connections_[i].cut_off || !CanSend(s)) return;
  if (s.pace_at > now_) {
    if (!s.pace_posted) Post(s.pace_at, Kind::kPace, i, connections_[i].generation);
    s.pace_posted = true;
    return;
  }
  if (!Choose(i)) return;
  AddToRing(i);
  Kick(s.port);
}

template <typename Events>
uint32_t PacketSim<Events>::TakeFromRing(uint32_t index, uint8_t traffic_class) {
  PortQueue& q = network_->queue(index, traffic_class);
  while (q.ring != kNoIndex) {
    const uint32_t i = senders_[q.ring].ring_next;
    Sender& s = senders_[i];
    const auto leave = [&] {
      s.in_ring = false;
      if (i == q.ring) {
        q.ring = kNoIndex;
        port(index).ready &= static_cast<uint8_t>(~(1u << traffic_class));
      } else {
        senders_[q.ring].ring_next = s.ring_next;
      }
    };
    if (!CanSend(s) || s.pace_at > now_ || !Choose(i) || s.port != index) {
      leave();
      MayBeReady(i);
      continue;
    }
    const uint32_t packet = NextPacket(i);
    // It may go on when this one has left, unless its next way begins at another port.
    const int64_t free_at = now_ + network_->TimeFor(index, pool_[packet].bytes);
    if (CanSend(s) && s.pace_at <= free_at && Choose(i) && s.port == index) {
      q.ring = i;
    } else {
      leave();
      MayBeReady(i);
    }
    return packet;
  }
  return kNoIndex;
}

// By the way that is chosen.
template <typename Events>
uint32_t PacketSim<Events>::NextPacket(uint32_t i) {
  const Connection& c = connections_[i];
  Sender& s = senders_[i];
  const Way& way = ways_[c.ways + s.path];
  const uint32_t packet = pool_.Take();
  Packet& k = pool_[packet];
  k.path = s.path;
  k.connection = i;
  k.generation = c.generation;
  k.traffic_class = c.traffic_class;
  k.ports = way.ports;
  k.hops = way.hops;
  k.left = now_;
  s.chosen = false;
  if (s.lost > 0) {
    PrepareLost(i, &k);
  } else {
    PrepareNew(i, &k);
  }
  k.bytes = k.payload + options_.header;
  s.in_flight += k.payload;
  if (telemetry_) k.telemetry = pool_.TakeTelemetry();
  if (s.control.pace != Control::kNone) {
    s.pace_at = now_ + static_cast<int64_t>(std::ceil(static_cast<double>(k.bytes) / s.control.pace));
  }
  ++counters_.packets;
  if (timeouts_) ArmTimeout(i);
  return packet;
}

template <typename Events>
void PacketSim<Events>::PrepareNew(uint32_t i, Packet* k) {
  Sender& s = senders_[i];
  const uint32_t m = s.message;
  const Message& message = messages_[m];
  const uint64_t place = s.next - s.message_first;
  k->number = s.next;
  k->message = m;
  k->payload = message.Payload(place, mtu_);
  if (options_.recovery == PacketOptions::Recovery::kSelective) {
    SentWindow& w = windows_[i];
    w.Grow(s.acked, s.next + 1);
    w[s.next] = {m, k->payload, k->path, SentWindow::kFlying};
  }
  ++s.next;
  s.sent_bytes += k->payload;
  if (place + 1 < message.packets) return;
  k->flags |= Packet::kLast;
  s.message = message.next;
  s.message_first = s.next;
  if (message.want_sent) {
    Post(now_ + network_->TimeFor(s.port, k->payload + options_.header), Kind::kSent, m);
    messages_[m].want_sent = false;
  }
}

// Selective: the first packet that is lost, once more.
template <typename Events>
void PacketSim<Events>::PrepareLost(uint32_t i, Packet* k) {
  Sender& s = senders_[i];
  SentWindow& w = windows_[i];
  w.lost_from = std::max(w.lost_from, s.acked);
  while (w[w.lost_from].state != SentWindow::kLost) ++w.lost_from;
  SentWindow::Sent& sent = w[w.lost_from];
  sent.state = SentWindow::kAgain;
  sent.path = k->path;
  --s.lost;
  if (timeouts_) w.resent.push_back({w.lost_from, s.next, ++sent.times});
  k->number = w.lost_from++;
  k->message = sent.message;
  k->payload = sent.payload;
  ++counters_.again;
}

template <typename Events>
void PacketSim<Events>::OnPace(uint32_t i, uint32_t generation) {
  if (connections_[i].generation != generation) return;
  senders_[i].pace_posted = false;
  MayBeReady(i);
}

template <typename Events>
void PacketSim<Events>::OnTimer(uint32_t i, uint32_t generation) {
  Sender& s = senders_[i];
  if (connections_[i].generation != generation || s.timer_posted != now_) return;
  s.timer_posted = 0;
  if (s.control.timer.picos() <= now_) {
    s.control.timer = Time::Never();
    WithTransport(&transports_[i], [&](auto& t) { t.OnTimer(Time::Picos(now_), &s.control); });
  }
  AfterTransport(i);
  MayBeReady(i);
}

// What the transport asked for.
template <typename Events>
void PacketSim<Events>::AfterTransport(uint32_t i) {
  Sender& s = senders_[i];
  const int64_t due = std::max(s.control.timer.picos(), now_);
  if (s.control.timer == Time::Never() || (s.timer_posted != 0 && s.timer_posted <= due)) return;
  s.timer_posted = due;
  Post(due, Kind::kTimer, i, connections_[i].generation);
}

template class PacketSim<HeapEvents>;
template class PacketSim<BucketEvents>;

}  // namespace chakra::packet
