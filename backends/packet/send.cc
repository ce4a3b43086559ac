// PacketSim: connections and their senders.
#include <algorithm>
#include <cmath>

#include "backends/packet/sim.h"

namespace chakra {

template <typename Events>
PacketSim<Events>::PacketSim(PacketNetwork* network, const PacketOptions& options, bool lossy)
    : network_(network),
      options_(options),
      mtu_(options.mtu),
      wire_(options.Wire()),
      may_fail_(lossy),
      timeouts_(lossy || !options.Lossless()),
      telemetry_(KindOf(options.transport).telemetry),
      pfc_(options.flow_control == PacketOptions::FlowControl::kPfc),
      credits_(options.flow_control == PacketOptions::FlowControl::kCredit),
      shared_(options.buffer > 0),
      cnp_gap_(KindOf(options.transport).cnp_gap.picos()) {}

template <typename Events>
uint32_t PacketSim<Events>::NewMessage() {
  ++open_messages_;
  if (free_messages_.empty()) {
    messages_.emplace_back();
    return static_cast<uint32_t>(messages_.size() - 1);
  }
  const uint32_t i = free_messages_.back();
  free_messages_.pop_back();
  messages_[i] = Message();
  return i;
}

template <typename Events>
uint32_t PacketSim<Events>::Connect(int src, int dst, uint64_t tag, uint8_t traffic_class, uint32_t ways) {
  uint32_t i;
  if (free_connections_.empty()) {
    i = static_cast<uint32_t>(connections_.size());
    connections_.emplace_back();
    senders_.emplace_back();
    transports_.emplace_back();
    receivers_.emplace_back();
    if (options_.recovery == PacketOptions::Recovery::kSelective) windows_.emplace_back();
  } else {
    i = free_connections_.back();
    free_connections_.pop_back();
    senders_[i] = Sender();
    receivers_[i] = Receiver();
    if (options_.recovery == PacketOptions::Recovery::kSelective) windows_[i] = SentWindow();
  }
  Connection& c = connections_[i];
  c = Connection{tag, c.generation, ways, src, dst, traffic_class};
  FindWays(i);
  return i;
}

// Those that it may take. No event does this: ports come to be here.
template <typename Events>
void PacketSim<Events>::FindWays(uint32_t i) {
  const Connection& c = connections_[i];
  const auto paths = static_cast<uint32_t>(options_.paths);
  const bool one = options_.spread == PacketOptions::Spread::kConnection;
  const auto first = static_cast<uint32_t>(one ? c.tag % paths : 0);
  for (uint32_t path = first; path < (one ? first + 1 : paths); ++path) {
    Way& way = ways_[c.ways + path];
    if (way.known && way.epoch == epoch_) continue;
    finder_->Find(c, path);
    way.known = true;
    way.epoch = epoch_;
  }
}

template <typename Events>
void PacketSim<Events>::Send(uint32_t m, int64_t now) {
  now_ = now;
  const uint32_t i = messages_[m].connection;
  Sender& s = senders_[i];
  if (s.tail == kNoIndex) {
    s.head = m;
    s.head_first = s.next;
  } else {
    messages_[s.tail].next = m;
  }
  s.tail = m;
  if (s.message == kNoIndex) {
    s.message = m;
    s.message_first = s.next;
  }
  if (!connections_[i].begun && !BeginConnection(i)) return;
  MayBeReady(i);
}

// Of a way; where packets take all ways, the rates of their ports together.
template <typename Events>
PathFacts PacketSim<Events>::Facts(const Connection& c, const Way& way) const {
  PathFacts f;
  f.mtu = mtu_;
  f.wire = wire_;
  f.hops = way.hops;
  int64_t rtt = 0;
  Bandwidth narrowest;
  for (uint32_t h = 0; h < way.hops; ++h) {
    const uint32_t i = path_ports_[way.ports + h];
    const Bandwidth b = network_->info(i).bandwidth;
    if (h == 0 || b < narrowest) narrowest = b;
    const double rate = RateAt(c, way, h);
    if (h == 0) f.nic_rate = rate;
    f.rate = h == 0 ? rate : std::min(f.rate, rate);
    rtt += network_->port(i).latency;
    if (!options_.cut_through) {
      rtt += TransferTime(wire_, b).picos();
    } else if (h + 1 < way.hops) {
      rtt += TransferTime(options_.header, b).picos();
    }
  }
  if (options_.cut_through) rtt += TransferTime(wire_, narrowest).picos();
  for (uint32_t h = 0; h < way.hops_back; ++h) {
    const uint32_t back = path_ports_[way.back + h];
    rtt += network_->port(back).latency + TransferTime(options_.ack, network_->info(back).bandwidth).picos();
  }
  f.base_rtt = Time::Picos(rtt);
  return f;
}

// Of the ports that the packets of a connection leave over at a hop; bytes a picosecond.
template <typename Events>
double PacketSim<Events>::RateAt(const Connection& c, const Way& way, uint32_t hop) const {
  if (options_.spread == PacketOptions::Spread::kConnection) {
    return network_->info(path_ports_[way.ports + hop]).rate;
  }
  std::vector<uint32_t> ports;
  for (uint32_t p = 0; p < static_cast<uint32_t>(options_.paths); ++p) {
    const Way& w = ways_[c.ways + p];
    if (w.found && hop < w.hops) ports.push_back(path_ports_[w.ports + hop]);
  }
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  double rate = 0;
  for (const uint32_t i : ports) rate += network_->info(i).rate;
  return rate;
}

// False: no way, yet.
template <typename Events>
bool PacketSim<Events>::BeginConnection(uint32_t i) {
  if (!Choose(i)) return false;
  Connection& c = connections_[i];
  Sender& s = senders_[i];
  PathFacts facts = Facts(c, ways_[c.ways + s.path]);
  facts.seed =
      options_.seed ^ (static_cast<uint64_t>(c.src) << 40) ^ (static_cast<uint64_t>(c.dst) << 16) ^ c.tag;
  transports_[i] = BeginTransport(options_.transport, facts, &s.control);
  c.begun = true;
  AfterTransport(i);
  return true;
}

template <typename Events>
bool PacketSim<Events>::Choose(uint32_t i) {
  Connection& c = connections_[i];
  Sender& s = senders_[i];
  if (s.chosen && s.chosen_epoch == epoch_) return true;
  const auto paths = static_cast<uint32_t>(options_.paths);
  s.path = 0;
  switch (options_.spread) {
    case PacketOptions::Spread::kConnection:
      s.path = static_cast<uint16_t>(c.tag % paths);
      break;
    case PacketOptions::Spread::kPacket:
      s.path = static_cast<uint16_t>(s.turns++ % paths);
      break;
    case PacketOptions::Spread::kTransport:
      if (!c.begun) break;
      WithTransport(&transports_[i],
                    [&](auto& t) { s.path = static_cast<uint16_t>(t.PickPath(Time::Picos(now_), paths)); });
      break;
  }
  const Way& way = ways_[c.ways + s.path];
  s.chosen = way.found;
  s.chosen_epoch = epoch_;
  if (way.found) {
    s.port = path_ports_[way.ports];
  } else if (!c.cut_off) {
    c.cut_off = true;
    cut_off_.push_back(i);
  }
  return way.found;
}

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
  k->number = w.lost_from++;
  k->message = sent.message;
  k->payload = sent.payload;
  ++counters_.again;
}

template <typename Events>
void PacketSim<Events>::ArmTimeout(uint32_t i) {
  Sender& s = senders_[i];
  s.deadline = now_ + options_.timeout.picos();
  if (s.timeout_posted) return;
  s.timeout_posted = true;
  Post(s.deadline, Kind::kTimeout, i, connections_[i].generation);
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

template <typename Events>
void PacketSim<Events>::TellLoss(uint32_t i, const Loss& loss) {
  Sender& s = senders_[i];
  WithTransport(&transports_[i], [&](auto& t) { t.OnLoss(loss, &s.control); });
  AfterTransport(i);
}

// Go-back-N: from `number` on, all again.
template <typename Events>
void PacketSim<Events>::Rewind(uint32_t i, uint64_t number, uint64_t bytes) {
  Sender& s = senders_[i];
  if (s.next > number) counters_.again += s.next - number;
  s.next = number;
  s.sent_bytes = bytes;
  s.in_flight = bytes - s.acked_bytes;
  s.message = s.head;
  s.message_first = s.head_first;
  while (s.message != kNoIndex && s.message_first + messages_[s.message].packets <= number) {
    s.message_first += messages_[s.message].packets;
    s.message = messages_[s.message].next;
  }
}

template <typename Events>
void PacketSim<Events>::OnTimeout(uint32_t i, uint32_t generation) {
  if (connections_[i].generation != generation) return;
  Sender& s = senders_[i];
  s.timeout_posted = false;
  if (s.acked == s.next) return;  // nothing is under way
  if (s.deadline > now_) {
    s.timeout_posted = true;
    Post(s.deadline, Kind::kTimeout, i, generation);
    return;
  }
  ++counters_.timeouts;
  Loss loss;
  loss.now = Time::Picos(now_);
  loss.kind = Loss::kTimeout;
  loss.packet = s.acked;
  loss.next = s.next;
  if (options_.recovery == PacketOptions::Recovery::kGoBackN) {
    loss.bytes = s.in_flight;
    Rewind(i, s.acked, s.acked_bytes);
  } else {
    for (uint64_t n = s.acked; n < s.next; ++n) GiveUp(i, n, &loss);
    loss.packet = s.acked;
  }
  loss.in_flight = s.in_flight;
  TellLoss(i, loss);
  MayBeReady(i);
}

// Selective: a packet that is under way is taken for lost.
template <typename Events>
void PacketSim<Events>::GiveUp(uint32_t i, uint64_t number, Loss* loss) {
  Sender& s = senders_[i];
  SentWindow& w = windows_[i];
  SentWindow::Sent& sent = w[number];
  if (number < s.acked || sent.state == SentWindow::kArrived || sent.state == SentWindow::kLost) return;
  sent.state = SentWindow::kLost;
  s.in_flight -= sent.payload;
  ++s.lost;
  w.lost_from = std::min(w.lost_from, number);
  loss->bytes += sent.payload;
  loss->packet = number;
  loss->path = sent.path;
}

// Selective: later packets than these arrived long ago.
template <typename Events>
void PacketSim<Events>::FindReordered(uint32_t i) {
  Sender& s = senders_[i];
  SentWindow& w = windows_[i];
  uint64_t apart = 3;  // one way keeps its order: as many as TCP's duplicates (RFC 5681)
  if (options_.spread != PacketOptions::Spread::kConnection) {
    const double window = std::min(s.control.window, 1e9);
    apart = std::max<uint64_t>(5, static_cast<uint64_t>(1.5 * window / mtu_));
  }
  if (w.highest <= apart) return;
  const uint64_t end = w.highest - apart;
  w.checked = std::max(w.checked, s.acked);
  if (w.checked >= end) return;
  Loss loss;
  loss.now = Time::Picos(now_);
  loss.kind = Loss::kOutOfOrder;
  loss.next = s.next;
  for (; w.checked < end; ++w.checked) {
    // What was sent again is left to the timeout.
    if (w[w.checked].state == SentWindow::kFlying) GiveUp(i, w.checked, &loss);
  }
  if (loss.bytes == 0 && s.lost == 0) return;
  loss.in_flight = s.in_flight;
  if (loss.bytes > 0) TellLoss(i, loss);
}

template <typename Events>
void PacketSim<Events>::OnAckGoBackN(uint32_t i, const Packet& k, Ack* ack) {
  Sender& s = senders_[i];
  // By number, for a packet may be empty.
  if (k.number + 1 > s.acked) {
    ack->acked = k.before - s.acked_bytes;
    s.acked_bytes = k.before;
    s.acked = k.number + 1;
    // After a rewind what was on the way all the same may arrive.
    if (s.acked > s.next) Rewind(i, s.acked, s.acked_bytes);
    s.in_flight = s.sent_bytes - s.acked_bytes;
    if (timeouts_) s.deadline = now_ + options_.timeout.picos();
  }
}

template <typename Events>
void PacketSim<Events>::OnAckSelective(uint32_t i, const Packet& k, Ack* ack) {
  Sender& s = senders_[i];
  SentWindow& w = windows_[i];
  const auto arrived = [&](uint64_t n) {
    SentWindow::Sent& sent = w[n];
    if (sent.state == SentWindow::kArrived) return;
    if (sent.state == SentWindow::kLost) {
      --s.lost;
    } else {
      s.in_flight -= sent.payload;
    }
    sent.state = SentWindow::kArrived;
    ack->acked += sent.payload;
  };
  if (k.number >= s.acked && k.number < s.next) {
    arrived(k.number);
    w.highest = std::max(w.highest, k.number + 1);
  }
  for (uint64_t n = s.acked; n < std::min(k.before, s.next); ++n) arrived(n);
  s.acked = std::max(s.acked, std::min(k.before, s.next));
  w.highest = std::max(w.highest, s.acked);
  if (timeouts_ && ack->acked > 0) s.deadline = now_ + options_.timeout.picos();
}

template <typename Events>
void PacketSim<Events>::PopAcknowledged(uint32_t i) {
  Sender& s = senders_[i];
  while (s.head != kNoIndex && s.head_first + messages_[s.head].packets <= s.acked) {
    const uint32_t m = s.head;
    s.head_first += messages_[m].packets;
    s.head = messages_[m].next;
    if (s.head == kNoIndex) s.tail = kNoIndex;
    messages_[m].acknowledged = true;
    Forget(m);
  }
}

// A message of which both ends are done.
template <typename Events>
void PacketSim<Events>::Forget(uint32_t m) {
  if (messages_[m].received && messages_[m].acknowledged) free_messages_.push_back(m);
}

template <typename Events>
void PacketSim<Events>::OnNack(uint32_t i, const Packet& k) {
  Sender& s = senders_[i];
  Loss loss;
  loss.now = Time::Picos(now_);
  loss.next = s.next;
  loss.path = k.path;
  loss.kind = (k.flags & Packet::kTrimmed) != 0 ? Loss::kTrimmed : Loss::kOutOfOrder;
  if (options_.recovery == PacketOptions::Recovery::kGoBackN) {
    // Asked for what comes after what it has.
    if (k.number < s.acked || k.number >= s.next) return;
    Ack unused;
    if (k.number > 0) {
      Packet before = k;
      before.number = k.number - 1;
      OnAckGoBackN(i, before, &unused);
      PopAcknowledged(i);
    }
    loss.packet = k.number;
    loss.bytes = s.in_flight;
    Rewind(i, k.number, k.before);
  } else {
    if (k.number >= s.next) return;
    GiveUp(i, k.number, &loss);
    if (loss.bytes == 0) return;
  }
  loss.in_flight = s.in_flight;
  TellLoss(i, loss);
}

template <typename Events>
void PacketSim<Events>::OnAcknowledged(uint32_t packet) {
  const Packet k = pool_[packet];
  const uint32_t i = k.connection;
  if (k.generation != connections_[i].generation || !connections_[i].begun) return pool_.Give(packet);
  Sender& s = senders_[i];
  if (k.kind == Packet::kNack) {
    OnNack(i, k);
  } else {
    Ack ack;
    if (options_.recovery == PacketOptions::Recovery::kGoBackN) {
      OnAckGoBackN(i, k, &ack);
    } else {
      OnAckSelective(i, k, &ack);
    }
    ack.now = Time::Picos(now_);
    ack.rtt = Time::Picos(now_ - k.left);
    ack.packet = k.number;
    ack.next = s.next;
    ack.in_flight = s.in_flight;
    ack.path = k.path;
    ack.marked = (k.flags & Packet::kMarked) != 0;
    ack.cnp = (k.flags & Packet::kCnp) != 0;
    if (k.telemetry != kNoIndex) ack.telemetry = &pool_.telemetry(k.telemetry);
    WithTransport(&transports_[i], [&](auto& t) { t.OnAck(ack, &s.control); });
    AfterTransport(i);
    if (options_.recovery == PacketOptions::Recovery::kSelective && timeouts_) FindReordered(i);
    PopAcknowledged(i);
  }
  pool_.Give(packet);
  if (s.head == kNoIndex) {
    ++connections_[i].generation;
    free_connections_.push_back(i);
    return;
  }
  MayBeReady(i);
}

template <typename Events>
void PacketSim<Events>::Reroute(int64_t now) {
  now_ = now;
  ++epoch_;
  for (uint32_t i = 0; i < connections_.size(); ++i) {
    if (senders_[i].head != kNoIndex) FindWays(i);
  }
  std::vector<uint32_t> waiting;
  waiting.swap(cut_off_);
  for (const uint32_t i : waiting) {
    connections_[i].cut_off = false;
    if (senders_[i].head == kNoIndex) continue;
    if (connections_[i].begun || BeginConnection(i)) MayBeReady(i);
  }
}

template class PacketSim<HeapEvents>;
template class PacketSim<BucketEvents>;

}  // namespace chakra
