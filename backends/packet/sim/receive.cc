// PacketSim: receivers, and what is told.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "backends/packet/sim/sim.h"

namespace chakra::packet {
namespace {

// Between two requests for the same packet (the network card family of the HPCC simulations waits as long).
constexpr int64_t kAskAgain = 500'000'000;  // ps

}  // namespace

template <typename Events>
void PacketSim<Events>::Deliver(uint32_t packet) {
  if (pool_[packet].kind != Packet::kData) return OnAcknowledged(packet);
  if (pool_[packet].generation != connections_[pool_[packet].connection].generation)
    return pool_.Give(packet);
  Receive(packet);
}

template <typename Events>
void PacketSim<Events>::Receive(uint32_t packet) {
  Packet& k = pool_[packet];
  Receiver& r = receivers_[k.connection];
  if (options_.recovery == PacketOptions::Recovery::kSelective) {
    if ((k.flags & Packet::kTrimmed) != 0) return Answer(packet, Packet::kNack);
    TakeInSelective(packet);
    return Answer(packet, Packet::kAck);
  }
  if (k.number == r.expected && (k.flags & Packet::kTrimmed) == 0) {
    ++r.expected;
    r.expected_bytes += k.payload;
    OnArrived(k);
    ++r.unanswered;
    // The sender learns of marks at once.
    const bool now = (k.flags & (Packet::kLast | Packet::kMarked)) != 0;
    if (now || r.unanswered >= options_.ack_every) return Answer(packet, Packet::kAck);
    return pool_.Give(packet);
  }
  if (k.number < r.expected) {
    // It does not know that this has arrived.
    k.number = r.expected - 1;
    return Answer(packet, Packet::kAck);
  }
  const bool asked = r.asked == r.expected && now_ - r.asked_at < kAskAgain;
  if (asked) return pool_.Give(packet);
  r.asked = r.expected;
  r.asked_at = now_;
  k.number = r.expected;
  Answer(packet, Packet::kNack);
}

// Selective. False: it was here before.
template <typename Events>
bool PacketSim<Events>::TakeInSelective(uint32_t packet) {
  const Packet& k = pool_[packet];
  Receiver& r = receivers_[k.connection];
  if (k.number < r.expected) return false;
  if (k.number == r.expected && r.early.empty()) {
    ++r.expected;
    OnArrived(k);
    return true;
  }
  // Bits of packets [expected, expected + 64 * words).
  const auto has_room = [&] { return k.number - r.expected < 64 * r.early.size(); };
  if (!has_room()) {
    size_t words = std::max<size_t>(r.early.size(), 1);
    while (k.number - r.expected >= 64 * words) words *= 2;
    std::vector<uint64_t> larger(words);
    const size_t before = 64 * r.early.size();
    for (uint64_t n = r.expected; n < r.expected + before; ++n) {
      const uint64_t from = n % before, to = n % (64 * words);
      if ((r.early[from / 64] >> (from % 64) & 1) != 0) larger[to / 64] |= uint64_t{1} << (to % 64);
    }
    r.early.swap(larger);
  }
  const uint64_t bits = 64 * r.early.size();
  const auto word = [&](uint64_t n) -> uint64_t& { return r.early[n % bits / 64]; };
  const auto bit = [&](uint64_t n) { return uint64_t{1} << (n % 64); };
  if ((word(k.number) & bit(k.number)) != 0) return false;
  word(k.number) |= bit(k.number);
  while ((word(r.expected) & bit(r.expected)) != 0) {
    word(r.expected) &= ~bit(r.expected);
    ++r.expected;
  }
  OnArrived(k);
  return true;
}

template <typename Events>
void PacketSim<Events>::OnArrived(const Packet& k) {
  Message& m = messages_[k.message];
  m.arrived_at = now_;
  if (++m.arrived < m.packets) return;
  if (m.delay > 0) {
    Post(now_ + m.delay, Kind::kReceived, k.message);
  } else {
    Tell(k.message, FlowEnd::kReceived);
  }
}

template <typename Events>
void PacketSim<Events>::Tell(uint32_t i, FlowEnd::Kind kind) {
  Message& m = messages_[i];
  told_.push_back({now_, m.order, m.tag, kind});
  if (kind != FlowEnd::kReceived) return;
  m.received = true;
  --open_messages_;
  Forget(i);
}

template <typename Events>
void PacketSim<Events>::TellAt(uint64_t tag, uint64_t order, Time at) {
  const uint32_t m = NewMessage();
  messages_[m].tag = tag;
  messages_[m].order = order;
  messages_[m].acknowledged = true;
  Post(at.picos(), Kind::kReceived, m);
}

template <typename Events>
void PacketSim<Events>::HandleAtEnd(const PacketEvent& e) {
  const uint32_t i = e.index();
  switch (e.kind()) {
    case Kind::kPace:
      return OnPace(i, e.argument);
    case Kind::kTimeout:
      return OnTimeout(i, e.argument);
    case Kind::kTimer:
      return OnTimer(i, e.argument);
    case Kind::kSent:
      return Tell(i, FlowEnd::kSent);
    default:
      return Tell(i, FlowEnd::kReceived);
  }
}

// The packet of data goes back as its own acknowledgement.
template <typename Events>
void PacketSim<Events>::Answer(uint32_t packet, Packet::Kind kind) {
  Packet& k = pool_[packet];
  Receiver& r = receivers_[k.connection];
  const Way& way = ways_[connections_[k.connection].ways + k.path];
  k.kind = kind;
  k.before = options_.recovery == PacketOptions::Recovery::kGoBackN ? r.expected_bytes : r.expected;
  k.bytes = options_.ack;
  k.traffic_class = PacketOptions::kControlClass;
  k.ports = way.back;
  k.hops = way.hops_back;
  k.hop = 0;
  r.unanswered = 0;
  if ((k.flags & Packet::kMarked) != 0 && cnp_gap_ > 0 &&
      (r.notified_at < 0 || now_ - r.notified_at >= cnp_gap_)) {
    r.notified_at = now_;
    k.flags |= Packet::kCnp;
  }
  ++counters_.acks;
  if (k.hops == 0) {
    Drop(packet, path_ports_[way.ports]);
    return;
  }
  Enqueue(path_ports_[k.ports], packet, kNoIndex);
}

template <typename Events>
std::string PacketSim<Events>::WhyStuck() const {
  std::vector<uint32_t> all(network_->ports());
  std::iota(all.begin(), all.end(), 0);
  return WhyStuck(all);
}

template <typename Events>
std::string PacketSim<Events>::WhyStuck(const std::vector<uint32_t>& ports) const {
  if (open_messages_ == 0) return "";
  // A port waits for the ports in which the node at its other end keeps its packets.
  std::map<uint32_t, std::set<uint32_t>> waits;
  for (const uint32_t i : ports) {
    const Port& p = network_->port(i);
    if (p.waiting == 0) continue;
    for (uint32_t c = 0; c < static_cast<uint32_t>(options_.classes); ++c) {
      for (uint32_t k = network_->queue(i, c).head; k != kNoIndex; k = pool_[k].next) {
        if (pool_[k].hop > 0) waits[path_ports_[pool_[k].ports + pool_[k].hop - 1]].insert(i);
      }
    }
  }
  // Follow it until a port comes again.
  for (const auto& [start, next] : waits) {
    std::vector<uint32_t> way = {start};
    std::set<uint32_t> seen = {start};
    // Depth first, over ports that are known to wait.
    std::vector<std::vector<uint32_t>> left = {{next.begin(), next.end()}};
    while (!way.empty()) {
      if (left.back().empty()) {
        way.pop_back();
        left.pop_back();
        continue;
      }
      const uint32_t to = left.back().back();
      left.back().pop_back();
      const auto on_way = std::find(way.begin(), way.end(), to);
      if (on_way != way.end()) {
        std::string cycle = "deadlock: ports wait for each other in a cycle:";
        for (auto it = on_way; it != way.end(); ++it) {
          absl::StrAppend(&cycle, it == on_way ? " " : " -> ", network_->PortName(*it));
        }
        return absl::StrCat(cycle, " -> ", network_->PortName(to));
      }
      const auto further = waits.find(to);
      if (further == waits.end() || !seen.insert(to).second) continue;
      way.push_back(to);
      left.push_back({further->second.begin(), further->second.end()});
    }
  }
  if (!cut_off_.empty()) {
    const Connection& c = connections_[cut_off_.front()];
    return absl::StrCat(cut_off_.size(), " connections have no way, the first from device ", c.src, " to ",
                        c.dst);
  }
  return absl::StrCat(open_messages_, " messages are not delivered");
}

template <typename Events>
uint64_t PacketSim<Events>::MemoryBytes() const {
  uint64_t bytes = 0;
  for (const Shard* part : parts_) bytes += part->MemoryBytes();
  return bytes + pool_.MemoryBytes() + connections_.capacity() * sizeof(Connection) +
         senders_.capacity() * sizeof(Sender) + receivers_.capacity() * sizeof(Receiver) +
         messages_.capacity() * sizeof(Message) + ways_.capacity() * sizeof(Way) +
         path_ports_.capacity() * sizeof(uint32_t) + network_->MemoryBytes();
}

template class PacketSim<HeapEvents>;
template class PacketSim<BucketEvents>;

}  // namespace chakra::packet
