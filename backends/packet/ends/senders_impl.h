// Definitions of Senders, for files that instantiate it.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "backends/packet/ends/senders.h"

namespace chakra::packet {

template <typename Events, typename Ports>
Senders<Events, Ports>::Senders(PacketNetwork* network, PacketPool* pool, Ways* ways, Messages* messages,
                                const PacketOptions& options, bool lossy, EventLoop<Events>* event_loop,
                                Ports* ports)
    : network_(*network),
      pool_(*pool),
      ways_(*ways),
      messages_(*messages),
      event_loop_(*event_loop),
      ports_(*ports),
      options_(options),
      mtu_(options.mtu),
      lossy_(lossy),
      selects_(options.recovery == PacketOptions::Recovery::kSelective),
      telemetry_(KindOf(options.transport).telemetry),
      transports_(options.transport),
      go_back_n_(messages),
      selective_(options, lossy) {}

template <typename Events, typename Ports>
uint32_t Senders<Events, Ports>::NewConnection() {
  ++open_;
  if (free_ == kNoIndex) {
    connections_.emplace_back();
    return size() - 1;
  }
  const uint32_t i = free_;
  free_ = connections_[i].ways;
  return i;
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::Close(uint32_t i) {
  Connection& c = connections_[i];
  if (c.made) maker_->Ended(c);
  if (c.sender != kNoIndex) GiveSender(i);
  ++c.generation;
  c.ways = std::exchange(free_, i);
  --open_;
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::TakeSender(uint32_t i) {
  uint32_t s;
  if (free_senders_.empty()) {
    s = static_cast<uint32_t>(senders_.size());
    senders_.emplace_back();
  } else {
    s = free_senders_.back();
    free_senders_.pop_back();
    senders_[s] = Sender();
  }
  senders_[s].connection = i;
  connections_[i].sender = s;
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::GiveSender(uint32_t i) {
  const uint32_t place = std::exchange(connections_[i].sender, kNoIndex);
  if (senders_[place].in_ring) {
    senders_[place].connection = kNoIndex;  // TakeFromRing() gives it back when its turn comes
  } else {
    free_senders_.push_back(place);
  }
}

template <typename Events, typename Ports>
uint32_t Senders<Events, Ports>::Open(uint64_t tag, int src, int dst, uint8_t traffic_class, uint32_t ways) {
  const uint32_t i = NewConnection();
  if (selects_) selective_.Begin(i);
  Connection& c = connections_[i];
  c = Connection{tag, c.generation, ways, src, dst, kNoIndex, traffic_class};
  TakeSender(i);
  ways_.Find(c);
  return i;
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::Send(uint32_t m) {
  const uint32_t i = messages_[m].connection;
  if (connections_[i].parked) Unpark(i);
  sender(i).Append(m, &messages_);
  if (!connections_[i].begun && !Begin(i)) return;
  MayBeReady(i);
}

template <typename Events, typename Ports>
uint32_t Senders<Events, Ports>::SendLater(uint32_t waiting, uint32_t port, uint8_t traffic_class,
                                           const std::shared_ptr<const FlowList>& flows, uint64_t first,
                                           uint32_t i) {
  if (waiting != kNoIndex) {
    later_.Add(connections_[waiting].ways, i);
    return waiting;
  }
  waiting = NewConnection();
  Connection& c = connections_[waiting];
  c = Connection{0, c.generation, later_.Open(flows, first), 0, 0, kNoIndex, traffic_class};
  c.later = true;
  later_.Add(c.ways, i);
  TakeSender(waiting);
  sender(waiting).port = port;
  AddToRing(waiting);
  ports_.Kick(port);
  // The port may have taken the flow at once.
  return connections_[waiting].later ? waiting : kNoIndex;
}

template <typename Events, typename Ports>
bool Senders<Events, Ports>::Begin(uint32_t i) {
  if (!Choose(i)) return false;
  Connection& c = connections_[i];
  Sender& s = sender(i);
  PathFacts facts = ways_.Facts(c, ways_[c.ways + s.path]);
  facts.seed =
      options_.seed ^ (static_cast<uint64_t>(c.src) << 40) ^ (static_cast<uint64_t>(c.dst) << 16) ^ c.tag;
  transports_.Begin(c.sender, facts, &s.control);
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
  Sender& s = senders_[c.sender];
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
      transports_.With(c.sender, [&](auto& t) {
        s.path = static_cast<uint16_t>(t.PickPath(Time::Picos(event_loop_.now()), paths));
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
  // As many packets as one acknowledgement waits for may always be in flight.
  return s.in_flight <= (options_.ack_every - 1) * uint64_t{mtu_} ||
         static_cast<double>(s.in_flight + mtu_) <= s.control.window ||
         (s.message != kNoIndex && s.lost == 0 &&
          static_cast<double>(s.in_flight + messages_[s.message].Payload(s.next - s.message_first, mtu_)) <=
              s.control.window);
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::AddToRing(uint32_t i) {
  const uint32_t place = connections_[i].sender;
  Sender& s = senders_[place];
  const uint8_t c = connections_[i].traffic_class;
  PortQueue& q = network_.queue(s.port, c);
  if (q.ring == kNoIndex) {
    s.ring_next = place;
  } else {
    s.ring_next = std::exchange(senders_[q.ring].ring_next, place);
  }
  q.ring = place;
  s.in_ring = true;
  network_.port(s.port).ready |= static_cast<uint8_t>(1u << c);
}

// Lets a connection wait for its turn at its NIC, or for its pace.
template <typename Events, typename Ports>
void Senders<Events, Ports>::MayBeReady(uint32_t i) {
  if (connections_[i].parked) return;
  Sender& s = sender(i);
  if (s.in_ring || !connections_[i].begun || connections_[i].cut_off || !CanSend(s)) return;
  if (s.pace_at > event_loop_.now()) {
    if (!s.pace_posted) event_loop_.Post(s.pace_at, Kind::kPace, i, connections_[i].generation);
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
    const uint32_t place = senders_[q.ring].ring_next;
    Sender& s = senders_[place];
    const uint32_t i = s.connection;
    if (i == kNoIndex) {
      LeaveRing(place, index, traffic_class);
      free_senders_.push_back(place);
      continue;
    }
    if (connections_[i].later) return TakeLater(i, index, traffic_class);
    if (!CanSend(s) || s.pace_at > event_loop_.now() || !Choose(i) || s.port != index) {
      LeaveRing(place, index, traffic_class);
      MayBeReady(i);
      continue;
    }
    const uint32_t packet = NextPacket(i);
    // The connection keeps its turn if it may send after this packet and its next path begins at the same
    // port.
    const int64_t free_at = event_loop_.now() + network_.TimeFor(index, pool_[packet].bytes);
    if (CanSend(s) && s.pace_at <= free_at && Choose(i) && s.port == index) {
      q.ring = place;
    } else {
      LeaveRing(place, index, traffic_class);
      MayBeReady(i);
      MayPark(i);
    }
    return packet;
  }
  return kNoIndex;
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::LeaveRing(uint32_t place, uint32_t index, uint8_t traffic_class) {
  PortQueue& q = network_.queue(index, traffic_class);
  Sender& s = senders_[place];
  s.in_ring = false;
  if (place == q.ring) {
    q.ring = kNoIndex;
    network_.port(index).ready &= static_cast<uint8_t>(~(1u << traffic_class));
  } else {
    senders_[q.ring].ring_next = s.ring_next;
  }
}

// The other flows that `waiting` represents keep their place in the ring. The connection of the new flow goes
// to the end of the ring, where it would be if all flows had been made at once.
template <typename Events, typename Ports>
uint32_t Senders<Events, Ports>::TakeLater(uint32_t waiting, uint32_t index, uint8_t traffic_class) {
  const auto [message, last] = later_.Make(connections_[waiting].ways, maker_);
  if (last) {
    LeaveRing(connections_[waiting].sender, index, traffic_class);
    connections_[waiting].later = false;
    Close(waiting);
  }
  const uint32_t i = messages_[message].connection;
  connections_[i].made = true;
  sender(i).Append(message, &messages_);
  Begin(i);
  const uint32_t packet = NextPacket(i);
  const Sender& s = sender(i);
  if (CanSend(s) && s.pace_at <= event_loop_.now() + network_.TimeFor(index, pool_[packet].bytes)) {
    AddToRing(i);
  } else {
    MayBeReady(i);
    MayPark(i);
  }
  return packet;
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::MayPark(uint32_t i) {
  Connection& c = connections_[i];
  if (!c.made) return;
  const Sender& s = senders_[c.sender];
  const bool sent = s.message == kNoIndex && s.head == s.tail && s.head_first == 0;
  if (!sent || s.next > kMostParked) return;
  const uint32_t message = s.head;
  messages_[message].acked = static_cast<uint32_t>(s.acked);
  GiveSender(i);
  c.parked = true;
  c.sender = message;
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::Unpark(uint32_t i) {
  Connection& c = connections_[i];
  const uint32_t m = c.sender;
  const Message& message = messages_[m];
  c.parked = false;
  TakeSender(i);
  Begin(i);
  Sender& s = sender(i);
  s.chosen = false;
  s.head = s.tail = m;
  s.next = message.packets;
  s.acked = message.acked;
  s.sent_bytes = message.bytes;
  s.acked_bytes = std::min(s.acked * mtu_, message.bytes);
  s.in_flight = s.sent_bytes - s.acked_bytes;
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::OnAckOfParked(uint32_t i, const Packet& k) {
  Connection& c = connections_[i];
  const uint32_t m = c.sender;
  messages_[m].acked = static_cast<uint32_t>(k.number + 1);
  if (k.number + 1 < messages_[m].packets) return;
  c.parked = false;
  c.sender = kNoIndex;
  messages_.Acknowledge(m);
}

// Makes the next packet, for the chosen path.
template <typename Events, typename Ports>
uint32_t Senders<Events, Ports>::NextPacket(uint32_t i) {
  const Connection& c = connections_[i];
  Sender& s = senders_[c.sender];
  const Way& way = ways_[c.ways + s.path];
  const uint32_t packet = pool_.Take();
  Packet& k = pool_[packet];
  k.path = s.path;
  k.connection = i;
  k.generation = c.generation;
  k.traffic_class = c.traffic_class;
  k.ports = way.ports;
  k.hops = way.hops;
  k.left = event_loop_.now();
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
        event_loop_.now() + static_cast<int64_t>(std::ceil(static_cast<double>(k.bytes) / s.control.pace));
  }
  s.pace_at = std::max(s.pace_at, s.made_at);
  ++packets_;
  if (lossy_) ArmTimeout(i);
  return packet;
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::FillNew(uint32_t i, Packet* k) {
  Sender& s = sender(i);
  const uint32_t m = s.message;
  const Message& message = messages_[m];
  const uint64_t place = s.next - s.message_first;
  k->number = s.next;
  k->message = m;
  k->payload = message.Payload(place, mtu_);
  if (selects_) selective_.OnSent(i, s, *k);
  ++s.next;
  s.sent_bytes += k->payload;
  if (message.limit.bytes_per_second() > 0) {
    if (place == 0) s.made_at = std::max(s.made_at, event_loop_.now());
    s.made_at += TransferTime(k->payload, message.limit).picos();
    if (place + 1 == message.packets) {
      messages_[m].made_at = s.made_at - network_.TimeFor(s.port, k->payload + options_.header);
    }
  }
  if (place + 1 < message.packets) return;
  k->flags |= Packet::kLast;
  s.message = message.next;
  s.message_first = s.next;
  if (message.want_sent) {
    const int64_t left = event_loop_.now() + network_.TimeFor(s.port, k->payload + options_.header);
    event_loop_.Post(message.limit.bytes_per_second() > 0 ? std::max(left, s.made_at) : left, Kind::kSent, m);
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
  if (connections_[i].parked) return OnAckOfParked(i, k);
  Sender& s = sender(i);
  Ack ack;
  bool is_news;
  if (selects_) {
    selective_.OnAck(i, k, &s, &ack);
    is_news = ack.acked > 0;
  } else {
    is_news = go_back_n_.OnAck(k, &s, &ack);
  }
  if (lossy_ && is_news) s.deadline = event_loop_.now() + options_.timeout.picos();
  ack.now = Time::Picos(event_loop_.now());
  ack.rtt = Time::Picos(event_loop_.now() - k.left);
  ack.packet = k.number;
  ack.next = s.next;
  ack.in_flight = s.in_flight;
  ack.path = k.path;
  ack.marked = (k.flags & Packet::kMarked) != 0;
  ack.cnp = (k.flags & Packet::kCnp) != 0;
  if (k.telemetry != kNoIndex) ack.telemetry = &pool_.telemetry(k.telemetry);
  transports_.With(connections_[i].sender, [&](auto& t) { t.OnAck(ack, &s.control); });
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
  Sender& s = sender(i);
  Loss loss;
  loss.now = Time::Picos(event_loop_.now());
  loss.next = s.next;
  loss.path = k.path;
  loss.kind = (k.flags & Packet::kTrimmed) != 0 ? Loss::kTrimmed : Loss::kOutOfOrder;
  const uint64_t acked = s.acked;
  const bool is_news = selects_ ? selective_.OnNack(i, k, &s, &loss) : go_back_n_.OnNack(k, &s, &loss);
  if (lossy_ && s.acked > acked) s.deadline = event_loop_.now() + options_.timeout.picos();
  if (is_news) TellLoss(i, loss);
}

// Reports a loss to the transport, with the bytes now in flight.
template <typename Events, typename Ports>
void Senders<Events, Ports>::TellLoss(uint32_t i, const Loss& loss) {
  Sender& s = sender(i);
  Loss told = loss;
  told.in_flight = s.in_flight;
  transports_.With(connections_[i].sender, [&](auto& t) { t.OnLoss(told, &s.control); });
  AfterTransport(i);
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::ArmTimeout(uint32_t i) {
  Sender& s = sender(i);
  s.deadline = event_loop_.now() + options_.timeout.picos();
  if (s.timeout_posted) return;
  s.timeout_posted = true;
  event_loop_.Post(s.deadline, Kind::kTimeout, i, connections_[i].generation);
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::OnTimeout(uint32_t i, uint32_t generation) {
  if (connections_[i].generation != generation) return;
  Sender& s = sender(i);
  s.timeout_posted = false;
  if (s.acked == s.next) return;  // nothing is in flight
  if (s.deadline > event_loop_.now()) {
    s.timeout_posted = true;
    event_loop_.Post(s.deadline, Kind::kTimeout, i, generation);
    return;
  }
  ++timed_out_;
  Loss loss;
  loss.now = Time::Picos(event_loop_.now());
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
  sender(i).pace_posted = false;
  MayBeReady(i);
}

template <typename Events, typename Ports>
void Senders<Events, Ports>::OnTimer(uint32_t i, uint32_t generation) {
  if (connections_[i].generation != generation) return;
  Sender& s = sender(i);
  const int64_t now = event_loop_.now();
  if (s.timer_posted != now) return;
  s.timer_posted = 0;
  if (s.control.timer.picos() <= now) {
    s.control.timer = Time::Never();
    transports_.With(connections_[i].sender, [&](auto& t) { t.OnTimer(Time::Picos(now), &s.control); });
  }
  AfterTransport(i);
  MayBeReady(i);
}

// Posts the timer that the transport requested.
template <typename Events, typename Ports>
void Senders<Events, Ports>::AfterTransport(uint32_t i) {
  Sender& s = sender(i);
  const int64_t due = std::max(s.control.timer.picos(), event_loop_.now());
  if (s.control.timer == Time::Never() || (s.timer_posted != 0 && s.timer_posted <= due)) return;
  s.timer_posted = due;
  event_loop_.Post(due, Kind::kTimer, i, connections_[i].generation);
}

}  // namespace chakra::packet
