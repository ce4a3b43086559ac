// Definitions of Senders, for who instantiates it.
#pragma once

#include <cmath>

#include "backends/packet/ends/senders.h"

namespace chakra::packet {

template <typename Events, typename Ports>
Senders<Events, Ports>::Senders(PacketNetwork* network, PacketPool* pool, Ways* ways, Messages* messages,
                                const PacketOptions& options, bool lossy, Agenda<Events>* agenda,
                                Ports* ports)
    : network_(*network),
      pool_(*pool),
      ways_(*ways),
      messages_(*messages),
      agenda_(*agenda),
      ports_(*ports),
      options_(options),
      mtu_(options.mtu),
      lossy_(lossy),
      selects_(options.recovery == PacketOptions::Recovery::kSelective),
      telemetry_(KindOf(options.transport).telemetry),
      go_back_n_(messages),
      selective_(options, lossy) {}

template <typename Events, typename Ports>
uint32_t Senders<Events, Ports>::Open(uint64_t tag, int src, int dst, uint8_t traffic_class, uint32_t ways) {
  uint32_t i;
  if (free_.empty()) {
    i = size();
    connections_.emplace_back();
    senders_.emplace_back();
    transports_.emplace_back();
  } else {
    i = free_.back();
    free_.pop_back();
    senders_[i] = Sender();
  }
  if (selects_) selective_.Begin(i);
  Connection& c = connections_[i];
  c = Connection{tag, c.generation, ways, src, dst, traffic_class};
  ways_.Find(c);
  return i;
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::Send(uint32_t m) {
  const uint32_t i = messages_[m].connection;
  senders_[i].Append(m, &messages_);
  if (!connections_[i].begun && !Begin(i)) return;
  MayBeReady(i);
}

template <typename Events, typename Ports>
bool Senders<Events, Ports>::Begin(uint32_t i) {
  if (!Choose(i)) return false;
  Connection& c = connections_[i];
  Sender& s = senders_[i];
  PathFacts facts = ways_.Facts(c, ways_[c.ways + s.path]);
  facts.seed =
      options_.seed ^ (static_cast<uint64_t>(c.src) << 40) ^ (static_cast<uint64_t>(c.dst) << 16) ^ c.tag;
  transports_[i] = BeginTransport(options_.transport, facts, &s.control);
  c.begun = true;
  AfterTransport(i);
  return true;
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::Reroute() {
  ways_.ForgetRoutes();
  for (uint32_t i = 0; i < connections_.size(); ++i) {
    if (!Idle(i)) ways_.Find(connections_[i]);
  }
  std::vector<uint32_t> waiting;
  waiting.swap(cut_off_);
  for (const uint32_t i : waiting) {
    connections_[i].cut_off = false;
    if (Idle(i)) continue;
    if (connections_[i].begun || Begin(i)) MayBeReady(i);
  }
}

template <typename Events, typename Ports>
bool Senders<Events, Ports>::Choose(uint32_t i) {
  Connection& c = connections_[i];
  Sender& s = senders_[i];
  if (s.chosen && s.chosen_epoch == ways_.epoch()) return true;
  const auto paths = static_cast<uint32_t>(options_.paths);
  s.path = 0;
  switch (options_.spread) {
    case PacketOptions::Spread::kConnection:
      s.path = static_cast<uint16_t>(c.tag % paths);
      break;
    case PacketOptions::Spread::kPacket:
    case PacketOptions::Spread::kAdaptive:
      s.path = static_cast<uint16_t>(s.turns++ % paths);
      break;
    case PacketOptions::Spread::kTransport:
      if (!c.begun) break;
      WithTransport(&transports_[i], [&](auto& t) {
        s.path = static_cast<uint16_t>(t.PickPath(Time::Picos(agenda_.now()), paths));
      });
      break;
  }
  const Way& way = ways_[c.ways + s.path];
  s.chosen = way.found;
  s.chosen_epoch = ways_.epoch();
  if (way.found) {
    s.port = ways_.paths()[way.ports];
  } else if (!c.cut_off) {
    c.cut_off = true;
    cut_off_.push_back(i);
  }
  return way.found;
}

template <typename Events, typename Ports>
bool Senders<Events, Ports>::CanSend(const Sender& s) const {
  if (s.lost == 0 && s.message == kNoIndex) return false;
  // As many packets as one acknowledgement waits for may always be under way.
  return s.in_flight <= (options_.ack_every - 1) * uint64_t{mtu_} ||
         static_cast<double>(s.in_flight + mtu_) <= s.control.window ||
         (s.message != kNoIndex && s.lost == 0 &&
          static_cast<double>(s.in_flight + messages_[s.message].Payload(s.next - s.message_first, mtu_)) <=
              s.control.window);
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::AddToRing(uint32_t i) {
  Sender& s = senders_[i];
  const uint8_t c = connections_[i].traffic_class;
  PortQueue& q = network_.queue(s.port, c);
  if (q.ring == kNoIndex) {
    s.ring_next = i;
  } else {
    s.ring_next = senders_[q.ring].ring_next;
    senders_[q.ring].ring_next = i;
  }
  q.ring = i;
  s.in_ring = true;
  network_.port(s.port).ready |= static_cast<uint8_t>(1u << c);
}

// Waits for its turn at its card, or for its pace.
template <typename Events, typename Ports>
void Senders<Events, Ports>::MayBeReady(uint32_t i) {
  Sender& s = senders_[i];
  if (s.in_ring || !connections_[i].begun || connections_[i].cut_off || !CanSend(s)) return;
  if (s.pace_at > agenda_.now()) {
    if (!s.pace_posted) agenda_.Post(s.pace_at, Kind::kPace, i, connections_[i].generation);
    s.pace_posted = true;
    return;
  }
  if (!Choose(i)) return;
  AddToRing(i);
  ports_.Kick(s.port);
}

template <typename Events, typename Ports>
uint32_t Senders<Events, Ports>::TakeFromRing(uint32_t index, uint8_t traffic_class) {
  PortQueue& q = network_.queue(index, traffic_class);
  while (q.ring != kNoIndex) {
    const uint32_t i = senders_[q.ring].ring_next;
    Sender& s = senders_[i];
    const auto leave = [&] {
      s.in_ring = false;
      if (i == q.ring) {
        q.ring = kNoIndex;
        network_.port(index).ready &= static_cast<uint8_t>(~(1u << traffic_class));
      } else {
        senders_[q.ring].ring_next = s.ring_next;
      }
    };
    if (!CanSend(s) || s.pace_at > agenda_.now() || !Choose(i) || s.port != index) {
      leave();
      MayBeReady(i);
      continue;
    }
    const uint32_t packet = NextPacket(i);
    // The connection may go on when this packet has left, unless its next way begins at another port.
    const int64_t free_at = agenda_.now() + network_.TimeFor(index, pool_[packet].bytes);
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
template <typename Events, typename Ports>
uint32_t Senders<Events, Ports>::NextPacket(uint32_t i) {
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
  k.left = agenda_.now();
  s.chosen = false;
  if (s.lost > 0) {
    selective_.TakeLost(i, &s, &k);
  } else {
    FillNew(i, &k);
  }
  k.bytes = k.payload + options_.header;
  s.in_flight += k.payload;
  if (telemetry_) k.telemetry = pool_.TakeTelemetry();
  if (s.control.pace != Control::kNone) {
    s.pace_at =
        agenda_.now() + static_cast<int64_t>(std::ceil(static_cast<double>(k.bytes) / s.control.pace));
  }
  ++packets_;
  if (lossy_) ArmTimeout(i);
  return packet;
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::FillNew(uint32_t i, Packet* k) {
  Sender& s = senders_[i];
  const uint32_t m = s.message;
  const Message& message = messages_[m];
  const uint64_t place = s.next - s.message_first;
  k->number = s.next;
  k->message = m;
  k->payload = message.Payload(place, mtu_);
  if (selects_) selective_.OnSent(i, s, *k);
  ++s.next;
  s.sent_bytes += k->payload;
  if (place + 1 < message.packets) return;
  k->flags |= Packet::kLast;
  s.message = message.next;
  s.message_first = s.next;
  if (message.want_sent) {
    agenda_.Post(agenda_.now() + network_.TimeFor(s.port, k->payload + options_.header), Kind::kSent, m);
    messages_[m].want_sent = false;
  }
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::OnAnswer(uint32_t i, const Packet& k) {
  if (k.kind == Packet::kNack) {
    OnNack(i, k);
  } else {
    OnAck(i, k);
  }
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::OnAck(uint32_t i, const Packet& k) {
  Sender& s = senders_[i];
  Ack ack;
  bool is_news;
  if (selects_) {
    selective_.OnAck(i, k, &s, &ack);
    is_news = ack.acked > 0;
  } else {
    is_news = go_back_n_.OnAck(k, &s, &ack);
  }
  if (lossy_ && is_news) s.deadline = agenda_.now() + options_.timeout.picos();
  ack.now = Time::Picos(agenda_.now());
  ack.rtt = Time::Picos(agenda_.now() - k.left);
  ack.packet = k.number;
  ack.next = s.next;
  ack.in_flight = s.in_flight;
  ack.path = k.path;
  ack.marked = (k.flags & Packet::kMarked) != 0;
  ack.cnp = (k.flags & Packet::kCnp) != 0;
  if (k.telemetry != kNoIndex) ack.telemetry = &pool_.telemetry(k.telemetry);
  WithTransport(&transports_[i], [&](auto& t) { t.OnAck(ack, &s.control); });
  AfterTransport(i);
  if (selects_ && lossy_) {
    Loss loss;
    loss.now = ack.now;
    loss.kind = Loss::kOutOfOrder;
    loss.next = s.next;
    if (selective_.FindOvertaken(i, &s, &loss)) TellLoss(i, loss);
  }
  s.DropAcknowledged(&messages_);
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::OnNack(uint32_t i, const Packet& k) {
  Sender& s = senders_[i];
  Loss loss;
  loss.now = Time::Picos(agenda_.now());
  loss.next = s.next;
  loss.path = k.path;
  loss.kind = (k.flags & Packet::kTrimmed) != 0 ? Loss::kTrimmed : Loss::kOutOfOrder;
  const uint64_t acked = s.acked;
  const bool is_news = selects_ ? selective_.OnNack(i, k, &s, &loss) : go_back_n_.OnNack(k, &s, &loss);
  if (lossy_ && s.acked > acked) s.deadline = agenda_.now() + options_.timeout.picos();
  if (is_news) TellLoss(i, loss);
}

// The transport learns of a loss; what is in flight is known by now.
template <typename Events, typename Ports>
void Senders<Events, Ports>::TellLoss(uint32_t i, const Loss& loss) {
  Sender& s = senders_[i];
  Loss told = loss;
  told.in_flight = s.in_flight;
  WithTransport(&transports_[i], [&](auto& t) { t.OnLoss(told, &s.control); });
  AfterTransport(i);
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::ArmTimeout(uint32_t i) {
  Sender& s = senders_[i];
  s.deadline = agenda_.now() + options_.timeout.picos();
  if (s.timeout_posted) return;
  s.timeout_posted = true;
  agenda_.Post(s.deadline, Kind::kTimeout, i, connections_[i].generation);
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::OnTimeout(uint32_t i, uint32_t generation) {
  if (connections_[i].generation != generation) return;
  Sender& s = senders_[i];
  s.timeout_posted = false;
  if (s.acked == s.next) return;  // nothing is under way
  if (s.deadline > agenda_.now()) {
    s.timeout_posted = true;
    agenda_.Post(s.deadline, Kind::kTimeout, i, generation);
    return;
  }
  ++timed_out_;
  Loss loss;
  loss.now = Time::Picos(agenda_.now());
  loss.kind = Loss::kTimeout;
  loss.packet = s.acked;
  loss.next = s.next;
  if (selects_) {
    selective_.OnTimeout(i, &s, &loss);
  } else {
    go_back_n_.OnTimeout(&s, &loss);
  }
  TellLoss(i, loss);
  MayBeReady(i);
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::OnPace(uint32_t i, uint32_t generation) {
  if (connections_[i].generation != generation) return;
  senders_[i].pace_posted = false;
  MayBeReady(i);
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::OnTimer(uint32_t i, uint32_t generation) {
  Sender& s = senders_[i];
  const int64_t now = agenda_.now();
  if (connections_[i].generation != generation || s.timer_posted != now) return;
  s.timer_posted = 0;
  if (s.control.timer.picos() <= now) {
    s.control.timer = Time::Never();
    WithTransport(&transports_[i], [&](auto& t) { t.OnTimer(Time::Picos(now), &s.control); });
  }
  AfterTransport(i);
  MayBeReady(i);
}

// Posts the timer that the transport asked for.
template <typename Events, typename Ports>
void Senders<Events, Ports>::AfterTransport(uint32_t i) {
  Sender& s = senders_[i];
  const int64_t due = std::max(s.control.timer.picos(), agenda_.now());
  if (s.control.timer == Time::Never() || (s.timer_posted != 0 && s.timer_posted <= due)) return;
  s.timer_posted = due;
  agenda_.Post(due, Kind::kTimer, i, connections_[i].generation);
}

}  // namespace chakra::packet
