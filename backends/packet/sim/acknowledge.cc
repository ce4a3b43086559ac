// PacketSim: what senders learn, and what they send again.
#include <algorithm>

#include "backends/packet/sim/sim.h"

namespace chakra::packet {

template <typename Events>
void PacketSim<Events>::ArmTimeout(uint32_t i) {
  Sender& s = senders_[i];
  s.deadline = now_ + options_.timeout.picos();
  if (s.timeout_posted) return;
  s.timeout_posted = true;
  Post(s.deadline, Kind::kTimeout, i, connections_[i].generation);
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
  auto again = w.TakeOvertaken(apart);
  if (w.checked >= end && !again.has_value()) return;
  Loss loss;
  loss.now = Time::Picos(now_);
  loss.kind = Loss::kOutOfOrder;
  loss.next = s.next;
  for (; w.checked < end; ++w.checked) {
    if (w[w.checked].state == SentWindow::kFlying) GiveUp(i, w.checked, &loss);
  }
  // What was sent again and lost again, as what was sent after it shows.
  for (; again.has_value(); again = w.TakeOvertaken(apart)) {
    if (again->number < s.acked) continue;
    const SentWindow::Sent& sent = w[again->number];
    if (sent.state == SentWindow::kAgain && sent.times == again->times) GiveUp(i, again->number, &loss);
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
  const Packet& k = pool_[packet];
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

template class PacketSim<HeapEvents>;
template class PacketSim<BucketEvents>;

}  // namespace chakra::packet
