// Definitions of Ports, for files that instantiate it.
#pragma once

#include <algorithm>
#include <limits>

#include "backends/packet/ports/chance.h"
#include "backends/packet/ports/ports.h"
#include "backends/packet/ports/turns.h"
#include "backends/packet/ways/adapt.h"

namespace chakra::packet {

// Bits of the argument of OnSignal(). A count in the high bits keeps signals of one instant in order.
struct PortSignal {
  static constexpr uint32_t kClassBits = 0x0f, kPause = 0x10, kResume = 0x20, kCredit = 0x40;
};

template <typename Events, typename Ends>
Ports<Events, Ends>::Ports(PacketNetwork* network, PacketPool* pool, const PathTable* paths,
                           const PacketOptions& options, bool may_fail, EventLoop<Events>* event_loop,
                           Ends* ends)
    : network_(*network),
      pool_(*pool),
      paths_(*paths),
      event_loop_(*event_loop),
      ends_(*ends),
      options_(options),
      buffers_(network, options),
      wire_(options.Wire()),
      may_fail_(may_fail),
      adaptive_(options.spread == PacketOptions::Spread::kAdaptive),
      credits_(options.flow_control == PacketOptions::FlowControl::kCredit) {}

template <typename Events, typename Ends>
void Ports<Events, Ends>::OnArrival(uint32_t in, uint32_t packet) {
  if (may_fail_ && (!port(in).up || (pool_[packet].flags & Packet::kLost) != 0)) return Lose(in, packet);
  Packet& k = pool_[packet];
  if (++k.hop == k.hops) {
    if (credits_) ReturnCredit(in, k.traffic_class, k.bytes);
    return ends_.Deliver(packet);
  }
  if (adaptive_ && k.kind == Packet::kData) Adapt(&k);
  Enqueue(paths_[k.ports + k.hop], packet, in);
}

// A packet that did not arrive needs no room at the other end, so its credit is returned.
template <typename Events, typename Ends>
void Ports<Events, Ends>::Lose(uint32_t in, uint32_t packet) {
  if (credits_) ReturnCredit(in, pool_[packet].traffic_class, pool_[packet].bytes);
  const bool up = port(in).up;
  ++(up ? network_.info(in).lost : network_.info(in).cut_off);
  ++(up ? counters_.lost : counters_.drops);
  Forget(packet);
}

template <typename Events, typename Ends>
void Ports<Events, Ends>::Adapt(Packet* k) {
  TakeLeastLoaded(
      paths_,
      [&](uint32_t i) {
        const Port& p = port(i);
        if (!p.up) return std::numeric_limits<double>::infinity();
        const auto left = static_cast<double>(std::max<int64_t>(0, p.free_at - event_loop_.now()));
        return (static_cast<double>(network_.backlog(i).bytes) / network_.info(i).rate) + left;  // ps
      },
      k);
}

template <typename Events, typename Ends>
void Ports<Events, Ends>::Enqueue(uint32_t out, uint32_t packet, uint32_t in) {
  Port& o = port(out);
  Packet* k = &pool_[packet];
  const auto bit = static_cast<uint8_t>(1u << k->traffic_class);
  if (!o.up) {
    if (in != kNoIndex && credits_) ReturnCredit(in, k->traffic_class, k->bytes);
    return Drop(packet, out);
  }
  // Continues at once, without waiting.
  if (o.free_at <= event_loop_.now() && !o.posted && o.waiting == 0 && o.ready == 0 &&
      (o.paused & bit) == 0 && HasCredit(out, k->traffic_class, k->bytes)) {
    if (in != kNoIndex && credits_) ReturnCredit(in, k->traffic_class, k->bytes);
    return Transmit(out, packet);
  }
  if (!Admit(out, packet, in)) return;
  PortQueue& q = network_.queue(out, k->traffic_class);
  k->next = kNoIndex;
  if (q.tail == kNoIndex) {
    q.head = packet;
  } else {
    pool_[q.tail].next = packet;
  }
  q.tail = packet;
  if (options_.ecn && options_.ecn_at_enqueue) Mark(out, q.bytes, packet);
  q.bytes += k->bytes;
  PortBacklog& backlog = network_.backlog(out);
  backlog.bytes += k->bytes;
  backlog.most = std::max(backlog.most, backlog.bytes);
  o.waiting |= static_cast<uint8_t>(1u << k->traffic_class);
  Kick(out);
}

// Takes room for a packet that must wait. False: the packet was dropped, or was trimmed and queued again.
template <typename Events, typename Ends>
bool Ports<Events, Ends>::Admit(uint32_t out, uint32_t packet, uint32_t in) {
  Packet& k = pool_[packet];
  Node& node = network_.node(port(out).node);
  if (in == kNoIndex || !node.is_switch) return true;
  const PortQueue& q = network_.queue(out, k.traffic_class);
  const bool control = k.traffic_class == PacketOptions::kControlClass;
  const uint64_t most = control ? 2 * options_.queue : options_.queue;
  bool fits = options_.queue == 0 || q.bytes + k.bytes <= most;
  if (fits && !control) {
    auto ask = Buffers::Ask::kNothing;
    fits = buffers_.Take(&node, in, k.traffic_class, k.bytes, q.bytes, &ask);
    if (ask != Buffers::Ask::kNothing) AskToPause(in, k.traffic_class, ask);
  }
  if (fits) {
    node.buffered += k.bytes;
    node.most_buffered = std::max(node.most_buffered, node.buffered);
    return true;
  }
  if (!options_.trim || control || k.kind != Packet::kData) {
    if (credits_) ReturnCredit(in, k.traffic_class, k.bytes);
    Drop(packet, out);
    return false;
  }
  ++network_.info(out).trims;
  ++counters_.trims;
  k.flags |= Packet::kTrimmed;
  k.bytes = options_.header;
  k.traffic_class = PacketOptions::kControlClass;
  Enqueue(out, packet, in);
  return false;
}

// Removes a packet from the buffer of its switch.
template <typename Events, typename Ends>
void Ports<Events, Ends>::Release(uint32_t out, const Packet& k) {
  if (k.hop == 0) return;
  const uint32_t in = paths_[k.ports + k.hop - 1];
  if (credits_) ReturnCredit(in, k.traffic_class, k.bytes);
  Node& node = network_.node(port(out).node);
  if (!node.is_switch) return;
  node.buffered -= k.bytes;
  if (k.traffic_class == PacketOptions::kControlClass) return;
  const Buffers::Ask ask = buffers_.Give(&node, in, k.traffic_class, k.bytes);
  if (ask != Buffers::Ask::kNothing) AskToPause(in, k.traffic_class, ask);
}

template <typename Events, typename Ends>
void Ports<Events, Ends>::AskToPause(uint32_t in, uint8_t traffic_class, Buffers::Ask ask) {
  const bool pause = ask == Buffers::Ask::kPause;
  if (pause) {
    ++network_.info(in).pauses;
    ++counters_.pauses;
  }
  const uint32_t count = ++network_.credit(in, traffic_class).signals;
  Signal(in, count << 8 | (pause ? PortSignal::kPause : PortSignal::kResume) | traffic_class);
}

template <typename Events, typename Ends>
void Ports<Events, Ends>::ReturnCredit(uint32_t in, uint8_t traffic_class, uint32_t bytes) {
  if (traffic_class != PacketOptions::kControlClass) {
    Signal(in, bytes << 8 | PortSignal::kCredit | traffic_class);
  }
}

// Sends a signal back over the link of a port, in a frame of its own that does not wait behind data.
template <typename Events, typename Ends>
void Ports<Events, Ends>::Signal(uint32_t in, uint32_t argument) {
  const Port& p = port(in);
  const int64_t time = (argument & PortSignal::kCredit) != 0
                           ? 0
                           : TransferTime(PacketNetwork::kPauseFrame, network_.info(in).bandwidth).picos();
  event_loop_.PostTo(network_.node(p.node).part, event_loop_.now() + p.latency + time, Kind::kSignal, in,
                     argument);
}

template <typename Events, typename Ends>
void Ports<Events, Ends>::OnSignal(uint32_t index, uint32_t argument) {
  Port& p = port(index);
  const uint32_t traffic_class = argument & PortSignal::kClassBits;
  const auto bit = static_cast<uint8_t>(1u << traffic_class);
  if ((argument & PortSignal::kPause) != 0) {
    if (p.paused == 0) network_.info(index).paused_since = event_loop_.now();
    p.paused |= bit;
    return;
  }
  if ((argument & PortSignal::kCredit) != 0) {
    network_.credit(index, traffic_class).credit += argument >> 8;
  } else {
    const uint64_t paused = network_.Paused(index, event_loop_.now());
    p.paused &= static_cast<uint8_t>(~bit);
    if (p.paused == 0) network_.info(index).paused = paused;
  }
  if (p.waiting != 0 || p.ready != 0) Kick(index);
}

template <typename Events, typename Ends>
void Ports<Events, Ends>::Drop(uint32_t packet, uint32_t at) {
  ++network_.info(at).drops;
  ++counters_.drops;
  Forget(packet);
}

// Only one thread gives packets back to the pool; other parts keep them until Settle().
template <typename Events, typename Ends>
void Ports<Events, Ends>::Forget(uint32_t packet) {
  if (event_loop_.part() == 0) return pool_.Give(packet);
  given_.push_back(packet);
}

template <typename Events, typename Ends>
void Ports<Events, Ends>::Settle(PacketTotals* totals) {
  *totals += counters_;
  counters_ = PacketTotals();
  for (const uint32_t packet : given_) pool_.Give(packet);
  given_.clear();
}

template <typename Events, typename Ends>
bool Ports<Events, Ends>::HasCredit(uint32_t index, uint8_t traffic_class, uint32_t bytes) const {
  return !credits_ || traffic_class == PacketOptions::kControlClass ||
         network_.credit(index, traffic_class).credit >= bytes;
}

// Decides by the bytes of the queue that a packet finds or leaves behind (PacketOptions::ecn_at_enqueue).
template <typename Events, typename Ends>
void Ports<Events, Ends>::Mark(uint32_t index, uint64_t queued, uint32_t packet) {
  Packet& k = pool_[packet];
  if (k.kind != Packet::kData || k.traffic_class == PacketOptions::kControlClass) return;
  PortInfo& p = network_.info(index);
  if (!IsMarked(options_, p, queued, port(index).packets)) return;
  k.flags |= Packet::kMarked;
  ++p.marks;
  ++counters_.marks;
}

template <typename Events, typename Ends>
void Ports<Events, Ends>::Kick(uint32_t index) {
  Port& p = port(index);
  if (p.posted) return;
  if (p.free_at > event_loop_.now()) {
    p.posted = true;
    event_loop_.Post(p.free_at, Kind::kFree, index);
  } else {
    Serve(index);
  }
}

template <typename Events, typename Ends>
void Ports<Events, Ends>::Serve(uint32_t index) {
  const uint32_t packet = Pick(index);
  if (packet == kNoIndex) return;
  Transmit(index, packet);
  Port& p = port(index);
  if ((p.waiting | p.ready) == 0) return;
  p.posted = true;
  event_loop_.Post(p.free_at, Kind::kFree, index);
}

// Returns a packet to send now; kNoIndex: none may be sent.
template <typename Events, typename Ends>
uint32_t Ports<Events, Ends>::Pick(uint32_t index) {
  Port& p = port(index);
  if (!p.up) return kNoIndex;
  uint32_t eligible = (p.waiting | p.ready) & ~uint32_t{p.paused};
  while (eligible != 0) {
    const uint32_t c = NextClass(&network_, options_, index, eligible);
    const auto traffic_class = static_cast<uint8_t>(c);
    const PortQueue& q = network_.queue(index, c);
    uint32_t packet = kNoIndex;
    const bool waits = q.head != kNoIndex && HasCredit(index, traffic_class, pool_[q.head].bytes);
    const bool connections = (p.ready >> c & 1) != 0 && HasCredit(index, traffic_class, wire_);
    if (waits && !(connections && p.turn)) {
      p.turn = true;
      packet = Dequeue(index, traffic_class);
    } else if (connections) {
      p.turn = false;
      packet = ends_.TakeFromRing(index, traffic_class);
      if (packet == kNoIndex && waits) packet = Dequeue(index, traffic_class);
    }
    if (packet != kNoIndex) {
      if (options_.classes > 2) network_.credit(index, c).deficit -= pool_[packet].bytes;
      return packet;
    }
    eligible &= ~(1u << c);
  }
  return kNoIndex;
}

template <typename Events, typename Ends>
uint32_t Ports<Events, Ends>::Dequeue(uint32_t index, uint8_t traffic_class) {
  Port& p = port(index);
  PortQueue& q = network_.queue(index, traffic_class);
  const uint32_t packet = q.head;
  Packet& k = pool_[packet];
  q.head = k.next;
  if (q.head == kNoIndex) {
    q.tail = kNoIndex;
    p.waiting &= static_cast<uint8_t>(~(1u << traffic_class));
  }
  q.bytes -= k.bytes;
  network_.backlog(index).bytes -= k.bytes;
  if (options_.ecn && !options_.ecn_at_enqueue) Mark(index, q.bytes, packet);
  Release(index, k);
  return packet;
}

// Returns after what time the next node can begin with a packet that begins to leave now.
template <typename Events, typename Ends>
int64_t Ports<Events, Ends>::ArrivalAfter(uint32_t index, const Packet& k, int64_t time) {
  if (!options_.cut_through || k.hop + 1 == k.hops) return time;
  const PortInfo& p = network_.info(index);
  if (!network_.node(p.peer).is_switch) return time;
  // Not to a faster port, which would run out of bytes.
  if (network_.info(paths_[k.ports + k.hop + 1]).rate > p.rate) return time;
  return std::min(time, network_.TimeFor(index, options_.header));
}

template <typename Events, typename Ends>
void Ports<Events, Ends>::Transmit(uint32_t index, uint32_t packet) {
  Port& p = port(index);
  Packet& k = pool_[packet];
  const int64_t now = event_loop_.now();
  const int64_t time = network_.TimeFor(index, k.bytes);
  p.free_at = now + time;
  p.sent += k.bytes;
  if (p.lossy && IsLost(options_.seed, network_.info(index), p.packets)) k.flags |= Packet::kLost;
  ++p.packets;
  ++counters_.hops;
  if (credits_ && k.traffic_class != PacketOptions::kControlClass) {
    network_.credit(index, k.traffic_class).credit -= k.bytes;
  }
  if (k.telemetry != kNoIndex && k.kind == Packet::kData) {
    Telemetry& t = pool_.telemetry(k.telemetry);
    if (t.hops < Telemetry::kMostHops)
      t.hop[t.hops++] = {now, p.sent, network_.backlog(index).bytes, network_.info(index).rate};
  }
  event_loop_.PostTo(p.part, now + ArrivalAfter(index, k, time) + p.latency, Kind::kArrive, index, packet);
}

template <typename Events, typename Ends>
void Ports<Events, Ends>::ChangeLink(uint32_t index, double share) {
  Port& p = port(index);
  network_.SetBandwidth(index, share);
  if (share > 0) {
    if (p.waiting != 0 || p.ready != 0) Kick(index);
  } else {
    for (uint8_t c = 0; c < options_.classes; ++c) {
      while (network_.queue(index, c).head != kNoIndex) Drop(Dequeue(index, c), index);
    }
  }
}

}  // namespace chakra::packet
