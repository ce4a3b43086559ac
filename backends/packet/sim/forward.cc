// PacketShard: ports and switches.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "backends/packet/sim/shard.h"
#include "backends/packet/sim/sim.h"
#include "trace/base/splitmix.h"

namespace chakra::packet {
namespace {

// Of an OnSignal() argument: a count in the high bits keeps signals of one instant in order.
constexpr uint32_t kClassBits = 0x0f, kPause = 0x10, kResume = 0x20, kCredit = 0x40;

// As NDP's switches (Handley et al., SIGCOMM 2017): headers to packets of data where both wait.
constexpr uint8_t kHeadersPerData = 10;

// A number in [0, 1) that depends on a key and a count alone, so that it is the same in whatever order
// numbers are drawn.
double Draw(uint64_t key, uint64_t count) { return ShareOf(SplitMix(key + count * kSplitMixStep)); }

// Whether a link loses a packet, by the packets that it carried before. Marks of the same port draw by other
// keys.
bool IsLost(uint64_t seed, const PortInfo& p, uint64_t number) {
  return Draw(SplitMix(seed ^ SplitMix(~uint64_t{p.link})), number) < p.loss;
}

}  // namespace

template <typename Events>
void PacketShard<Events>::Arrive(uint32_t in, uint32_t packet) {
  if (may_fail_ && (!port(in).up || (pool_[packet].flags & Packet::kLost) != 0)) return Lose(in, packet);
  Packet& k = pool_[packet];
  if (++k.hop == k.hops) {
    if (credits_) ReturnCredit(in, k.traffic_class, k.bytes);
    return ends_->Deliver(packet);
  }
  if (adaptive_ && k.kind == Packet::kData) Adapt(&k);
  Enqueue(path_ports_[k.ports + k.hop], packet, in);
}

// What a link did not carry to its other end took no room there: the room that it had credit for is free.
template <typename Events>
void PacketShard<Events>::Lose(uint32_t in, uint32_t packet) {
  if (credits_) ReturnCredit(in, pool_[packet].traffic_class, pool_[packet].bytes);
  const bool up = port(in).up;
  ++(up ? network_->info(in).lost : network_->info(in).cut_off);
  ++(up ? counters_.lost : counters_.drops);
  Forget(packet);
}

template <typename Events>
void PacketShard<Events>::Adapt(Packet* k) {
  const auto load = [&](uint32_t i) {
    const Port& p = port(i);
    if (!p.up) return std::numeric_limits<double>::infinity();
    const auto left = static_cast<double>(std::max<int64_t>(0, p.free_at - now_));
    return (static_cast<double>(network_->backlog(i).bytes) / network_->info(i).rate) + left;  // ps
  };
  const auto next = [&](uint32_t ports) {
    return &path_ports_[path_ports_[ports - 1] + PacketTables::kAlternative * k->hop];
  };
  const uint32_t own = path_ports_[k->ports + k->hop];
  const uint32_t* alternative = next(k->ports);
  if (path_ports_[alternative[0] + k->hop] == own) return;
  double least = load(own);
  const uint32_t* best = nullptr;
  for (; path_ports_[alternative[0] + k->hop] != own; alternative = next(alternative[0])) {
    const double waits = load(path_ports_[alternative[0] + k->hop]);
    if (waits >= least) continue;
    least = waits;
    best = alternative;
  }
  if (best == nullptr) return;
  k->ports = best[0];
  k->path = static_cast<uint16_t>(best[1]);
  k->hops = static_cast<uint8_t>(best[2]);
}

// From a node's input, or the node itself, to a port.
template <typename Events>
void PacketShard<Events>::Enqueue(uint32_t out, uint32_t packet, uint32_t in) {
  Port& o = port(out);
  Packet* k = &pool_[packet];
  const auto bit = static_cast<uint8_t>(1u << k->traffic_class);
  if (!o.up) {
    if (in != kNoIndex && credits_) ReturnCredit(in, k->traffic_class, k->bytes);
    return Drop(packet, out);
  }
  // Straight on.
  if (o.free_at <= now_ && !o.posted && o.waiting == 0 && o.ready == 0 && (o.paused & bit) == 0 &&
      HasCredit(out, k->traffic_class, k->bytes)) {
    if (in != kNoIndex && credits_) ReturnCredit(in, k->traffic_class, k->bytes);
    return Transmit(out, packet);
  }
  if (!Admit(out, packet, in)) return;
  PortQueue& q = network_->queue(out, k->traffic_class);
  k->next = kNoIndex;
  if (q.tail == kNoIndex) {
    q.head = packet;
  } else {
    pool_[q.tail].next = packet;
  }
  q.tail = packet;
  if (options_.ecn && options_.ecn_at_enqueue) Mark(out, q.bytes, packet);
  q.bytes += k->bytes;
  PortBacklog& backlog = network_->backlog(out);
  backlog.bytes += k->bytes;
  backlog.most = std::max(backlog.most, backlog.bytes);
  o.waiting |= static_cast<uint8_t>(1u << k->traffic_class);
  Kick(out);
}

template <typename Events>
double PacketShard<Events>::Threshold(const Node& node, uint32_t in) const {
  const double dynamic =
      options_.alpha * static_cast<double>(node.pool > node.shared ? node.pool - node.shared : 0);
  const double fixed = options_.xoff.Of(network_->info(in).rate);
  return fixed > 0 ? std::min(fixed, dynamic) : dynamic;
}

// Takes room in the ingress buffer of a lossless switch. False: there is none.
template <typename Events>
bool PacketShard<Events>::Charge(Node* node, uint32_t in, uint8_t traffic_class, uint32_t bytes) {
  PortCredit& q = network_->credit(in, traffic_class);
  const uint64_t before = q.Shared(options_.reserved);
  const uint64_t after = q.Shared(options_.reserved, bytes);
  const bool fits =
      static_cast<double>(after) <= Threshold(*node, in) && node->shared + after - before <= node->pool;
  if (after == 0 || (fits && q.ingress_headroom == 0)) {
    q.ingress += bytes;
    node->shared += after - before;
  } else {
    const LinkClass& c = network_->topology().link_classes()[network_->info(in).link_class];
    if (q.ingress_headroom + bytes > network_->Headroom(c)) return false;
    q.ingress_headroom += bytes;
  }
  CheckPause(node, in, traffic_class);
  return true;
}

template <typename Events>
void PacketShard<Events>::CheckPause(Node* node, uint32_t in, uint8_t traffic_class) {
  PortCredit& q = network_->credit(in, traffic_class);
  const auto shared = static_cast<double>(q.Shared(options_.reserved));
  const double threshold = Threshold(*node, in);
  if (!q.asked_to_pause) {
    if (q.ingress_headroom == 0 && (shared == 0 || shared + wire_ <= threshold)) return;
    q.asked_to_pause = true;
    ++network_->info(in).pauses;
    ++counters_.pauses;
    Signal(in, ++q.signals << 8 | kPause | traffic_class);
    return;
  }
  const double gap = options_.xon_gap > 0 ? options_.xon_gap : 2.0 * wire_;
  if (q.ingress_headroom > 0 || (shared > 0 && shared + gap > threshold)) return;
  q.asked_to_pause = false;
  Signal(in, ++q.signals << 8 | kResume | traffic_class);
}

// Back over the link of a port: a frame of its own, not behind data.
template <typename Events>
void PacketShard<Events>::Signal(uint32_t in, uint32_t argument) {
  const Port& p = port(in);
  const int64_t time = (argument & kCredit) != 0
                           ? 0
                           : TransferTime(PacketNetwork::kPauseFrame, network_->info(in).bandwidth).picos();
  PostTo(network_->node(p.node).part, now_ + p.latency + time, Kind::kSignal, in, argument);
}

template <typename Events>
void PacketShard<Events>::ReturnCredit(uint32_t in, uint8_t traffic_class, uint32_t bytes) {
  if (traffic_class != PacketOptions::kControlClass) Signal(in, bytes << 8 | kCredit | traffic_class);
}

template <typename Events>
void PacketShard<Events>::OnSignal(uint32_t index, uint32_t argument) {
  Port& p = port(index);
  const uint32_t traffic_class = argument & kClassBits;
  const auto bit = static_cast<uint8_t>(1u << traffic_class);
  if ((argument & kPause) != 0) {
    if (p.paused == 0) network_->info(index).paused_since = now_;
    p.paused |= bit;
    return;
  }
  if ((argument & kCredit) != 0) {
    network_->credit(index, traffic_class).credit += argument >> 8;
  } else {
    const uint64_t paused = network_->Paused(index, now_);
    p.paused &= static_cast<uint8_t>(~bit);
    if (p.paused == 0) network_->info(index).paused = paused;
  }
  if (p.waiting != 0 || p.ready != 0) Kick(index);
}

// Room for a packet that must wait; false: it was dropped, or goes on without its payload.
template <typename Events>
bool PacketShard<Events>::Admit(uint32_t out, uint32_t packet, uint32_t in) {
  Packet& k = pool_[packet];
  Node& node = network_->node(port(out).node);
  if (in == kNoIndex || !node.is_switch) return true;
  const PortQueue& q = network_->queue(out, k.traffic_class);
  const bool control = k.traffic_class == PacketOptions::kControlClass;
  const uint64_t most = control ? 2 * options_.queue : options_.queue;
  bool fits = options_.queue == 0 || q.bytes + k.bytes <= most;
  if (fits && shared_ && !control) {
    if (pfc_) {
      fits = Charge(&node, in, k.traffic_class, k.bytes);
    } else {
      const auto left = static_cast<double>(node.pool > node.buffered ? node.pool - node.buffered : 0);
      fits = static_cast<double>(q.bytes + k.bytes) <= options_.alpha * left &&
             node.buffered + k.bytes <= node.pool;
    }
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
  ++network_->info(out).trims;
  ++counters_.trims;
  k.flags |= Packet::kTrimmed;
  k.bytes = options_.header;
  k.traffic_class = PacketOptions::kControlClass;
  Enqueue(out, packet, in);
  return false;
}

// A packet leaves the buffer of its switch.
template <typename Events>
void PacketShard<Events>::Release(uint32_t out, const Packet& k) {
  if (k.hop == 0) return;
  const uint32_t in = path_ports_[k.ports + k.hop - 1];
  if (credits_) ReturnCredit(in, k.traffic_class, k.bytes);
  Node& node = network_->node(port(out).node);
  if (!node.is_switch) return;
  node.buffered -= k.bytes;
  if (!shared_ || !pfc_ || k.traffic_class == PacketOptions::kControlClass) return;
  PortCredit& q = network_->credit(in, k.traffic_class);
  uint64_t left = k.bytes;
  const uint64_t of_headroom = std::min<uint64_t>(left, q.ingress_headroom);
  q.ingress_headroom -= of_headroom;
  left -= of_headroom;
  const uint64_t before = q.Shared(options_.reserved);
  q.ingress -= left;
  const uint64_t after = q.Shared(options_.reserved);
  node.shared -= before - after;
  if (q.asked_to_pause) CheckPause(&node, in, k.traffic_class);
}

template <typename Events>
void PacketShard<Events>::Drop(uint32_t packet, uint32_t at) {
  ++network_->info(at).drops;
  ++counters_.drops;
  Forget(packet);
}

template <typename Events>
void PacketShard<Events>::Forget(uint32_t packet) {
  if (part_ == 0) return pool_.Give(packet);
  given_.push_back(packet);
}

template <typename Events>
bool PacketShard<Events>::HasCredit(uint32_t index, uint8_t traffic_class, uint32_t bytes) const {
  return !credits_ || traffic_class == PacketOptions::kControlClass ||
         network_->credit(index, traffic_class).credit >= bytes;
}

// By the bytes of its queue that a packet meets or leaves behind.
template <typename Events>
void PacketShard<Events>::Mark(uint32_t index, uint64_t queued, uint32_t packet) {
  Packet& k = pool_[packet];
  if (k.kind != Packet::kData || k.traffic_class == PacketOptions::kControlClass) return;
  PortInfo& p = network_->info(index);
  const double low = options_.ecn_low.Of(p.rate), high = options_.ecn_high.Of(p.rate);
  const auto q = static_cast<double>(queued);
  if (q <= low) return;
  if (q < high) {
    const double share = options_.ecn_probability * (q - low) / (high - low);
    if (Draw(options_.seed ^ (uint64_t{p.link} << 32), port(index).packets) >= share) return;
  }
  k.flags |= Packet::kMarked;
  ++p.marks;
  ++counters_.marks;
}

// Serves the port now or when its packet has left.
template <typename Events>
void PacketShard<Events>::Kick(uint32_t index) {
  Port& p = port(index);
  if (p.posted) return;
  if (p.free_at > now_) {
    p.posted = true;
    Post(p.free_at, Kind::kFree, index);
  } else {
    Serve(index);
  }
}

template <typename Events>
void PacketShard<Events>::Serve(uint32_t index) {
  const uint32_t packet = Pick(index);
  if (packet == kNoIndex) return;
  Transmit(index, packet);
  Port& p = port(index);
  if ((p.waiting | p.ready) == 0) return;
  p.posted = true;
  Post(p.free_at, Kind::kFree, index);
}

// The class whose turn it is: control first, the others by deficit round robin (Shreedhar, Varghese,
// SIGCOMM 1995) with a full packet times the weight for each turn.
template <typename Events>
uint32_t PacketShard<Events>::NextClass(uint32_t index, uint32_t eligible) {
  if ((eligible & 1) != 0) {
    if (!options_.trim || eligible == 1) return 0;
    // Headers alone would keep all data from a slow port.
    PortInfo& info = network_->info(index);
    if (++info.headers <= kHeadersPerData) return 0;
    info.headers = 0;
    eligible &= ~1u;
  }
  if ((eligible & (eligible - 1)) == 0) {
    const auto alone = static_cast<uint32_t>(std::countr_zero(eligible));
    if (options_.classes > 2) network_->credit(index, alone).deficit = wire_;
    return alone;
  }
  PortInfo& p = network_->info(index);
  for (;;) {
    const uint32_t c = p.next_class;
    PortCredit& q = network_->credit(index, c);
    if ((eligible >> c & 1) != 0 && q.deficit > 0) return c;
    if ((eligible >> c & 1) == 0) q.deficit = std::min<int64_t>(q.deficit, 0);
    p.next_class = static_cast<uint8_t>(c + 1 < static_cast<uint32_t>(options_.classes) ? c + 1 : 1);
    const uint32_t weight = options_.weights.empty() ? 1 : options_.weights[p.next_class - 1];
    network_->credit(index, p.next_class).deficit += int64_t{weight} * wire_;
  }
}

// A packet to send now; kNoIndex: none may go.
template <typename Events>
uint32_t PacketShard<Events>::Pick(uint32_t index) {
  Port& p = port(index);
  if (!p.up) return kNoIndex;
  uint32_t eligible = (p.waiting | p.ready) & ~uint32_t{p.paused};
  while (eligible != 0) {
    const uint32_t c = NextClass(index, eligible);
    const auto traffic_class = static_cast<uint8_t>(c);
    const PortQueue& q = network_->queue(index, c);
    uint32_t packet = kNoIndex;
    const bool waits = q.head != kNoIndex && HasCredit(index, traffic_class, pool_[q.head].bytes);
    const bool connections = (p.ready >> c & 1) != 0 && HasCredit(index, traffic_class, wire_);
    if (waits && !(connections && p.turn)) {
      p.turn = true;
      packet = Dequeue(index, traffic_class);
    } else if (connections) {
      p.turn = false;
      packet = ends_->TakeFromRing(index, traffic_class);
      if (packet == kNoIndex && waits) packet = Dequeue(index, traffic_class);
    }
    if (packet != kNoIndex) {
      if (options_.classes > 2) network_->credit(index, c).deficit -= pool_[packet].bytes;
      return packet;
    }
    eligible &= ~(1u << c);
  }
  return kNoIndex;
}

template <typename Events>
uint32_t PacketShard<Events>::Dequeue(uint32_t index, uint8_t traffic_class) {
  Port& p = port(index);
  PortQueue& q = network_->queue(index, traffic_class);
  const uint32_t packet = q.head;
  Packet& k = pool_[packet];
  q.head = k.next;
  if (q.head == kNoIndex) {
    q.tail = kNoIndex;
    p.waiting &= static_cast<uint8_t>(~(1u << traffic_class));
  }
  q.bytes -= k.bytes;
  network_->backlog(index).bytes -= k.bytes;
  if (options_.ecn && !options_.ecn_at_enqueue) Mark(index, q.bytes, packet);
  Release(index, k);
  return packet;
}

// When the next node can begin with a packet that begins to leave now.
template <typename Events>
int64_t PacketShard<Events>::ArrivalAfter(uint32_t index, const Packet& k, int64_t time) {
  if (!options_.cut_through || k.hop + 1 == k.hops) return time;
  const PortInfo& p = network_->info(index);
  if (!network_->node(p.peer).is_switch) return time;
  // A faster port would run out of bytes.
  if (network_->info(path_ports_[k.ports + k.hop + 1]).rate > p.rate) return time;
  return std::min(time, network_->TimeFor(index, options_.header));
}

template <typename Events>
void PacketShard<Events>::Transmit(uint32_t index, uint32_t packet) {
  Port& p = port(index);
  Packet& k = pool_[packet];
  const int64_t time = network_->TimeFor(index, k.bytes);
  p.free_at = now_ + time;
  p.sent += k.bytes;
  if (p.lossy && IsLost(options_.seed, network_->info(index), p.packets)) k.flags |= Packet::kLost;
  ++p.packets;
  ++counters_.hops;
  if (credits_ && k.traffic_class != PacketOptions::kControlClass) {
    network_->credit(index, k.traffic_class).credit -= k.bytes;
  }
  if (k.telemetry != kNoIndex && k.kind == Packet::kData) {
    Telemetry& t = pool_.telemetry(k.telemetry);
    if (t.hops < Telemetry::kMostHops)
      t.hop[t.hops++] = {now_, p.sent, network_->backlog(index).bytes, network_->info(index).rate};
  }
  PostTo(p.part, now_ + ArrivalAfter(index, k, time) + p.latency, Kind::kArrive, index, packet);
}

template class PacketShard<HeapEvents>;
template class PacketShard<BucketEvents>;

}  // namespace chakra::packet
