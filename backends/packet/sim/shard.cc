// PacketShard: its events and mail.
#include "backends/packet/sim/shard.h"

#include <span>

#include "backends/packet/sim/sim.h"

namespace chakra::packet {

template <typename Events>
PacketShard<Events>::PacketShard(PacketNetwork* network, PacketTables* tables, const PacketOptions& options,
                                 bool may_fail, uint32_t part, PacketSim<Events>* ends)
    : network_(network),
      pool_(tables->packets),
      path_ports_(tables->paths),
      large_(tables->large),
      ends_(ends),
      options_(options),
      wire_(options.Wire()),
      part_(part),
      may_fail_(may_fail),
      adaptive_(options.spread == PacketOptions::Spread::kAdaptive),
      pfc_(options.flow_control == PacketOptions::FlowControl::kPfc),
      credits_(options.flow_control == PacketOptions::FlowControl::kCredit),
      shared_(options.buffer > 0) {
  for (PacketMail& mail : mail_) mail.to.resize(network->parts() + 1);
}

template <typename Events>
void PacketShard<Events>::TakeMail(const std::vector<PacketShard*>& parts) {
  // Another thread may have written it: it is asked for long before it is read.
  constexpr size_t kAhead = 64, kPerLine = 64 / sizeof(PacketEvent);  // events
  const auto mail_from = [this](const PacketShard* part) -> const std::vector<PacketEvent>& {
    return part->mail_[(window_ & 1) ^ 1].to[part_];
  };
  for (const PacketShard* from : parts) Prefetch(&mail_from(from));
  for (const PacketShard* from : parts) {
    const std::vector<PacketEvent>& mail = mail_from(from);
    for (size_t i = 0; i < std::min(kAhead, mail.size()); i += kPerLine) Prefetch(&mail[i]);
  }
  for (const PacketShard* from : parts) {
    for (const PacketEvent& e : mail_from(from)) {
      Prefetch(reinterpret_cast<const char*>(&e) + kAhead * sizeof(PacketEvent));
      // Packets that another thread had come from far.
      if (e.kind() == Kind::kArrive) pool_.Prefetch(e.argument);
      events_.Push(e);
    }
  }
}

template <typename Events>
void PacketShard<Events>::RunWindow(int64_t last) {
  while (events_.HasUpTo(last)) {
    const PacketEvent e = Next();
    now_ = e.at;
    ++counters_.events;
    Handle(e);
  }
  FindNext();
}

// Memory is asked for in two steps. As soon as events are known in outline, what they are of: packets that
// arrive, and ports that become free. When they are next, what that leads to: the ports where the packets go,
// and the packets that wait at the ports.
template <typename Events>
size_t PacketShard<Events>::PrefetchComing() {
  constexpr size_t kMost = 32;
  const std::span<const PacketEvent> coming = events_.Coming(kMost);
  if (!large_) return coming.size();
  for (const PacketEvent& e : coming) {
    if (e.kind() == Kind::kArrive) {
      const Packet& k = pool_[e.argument];
      if (k.hop + 1 < k.hops) network_->Prefetch(path_ports_[k.ports + k.hop + 1u]);
    } else if (e.kind() == Kind::kFree) {
      for (uint32_t c = 0; c < 2; ++c) {
        const uint32_t head = network_->queue(e.index(), c).head;
        if (head != kNoIndex) pool_.Prefetch(head);
      }
    }
  }
  events_.ForEachBeyond([this](const PacketEvent& e) {
    if (e.kind() == Kind::kArrive) pool_.Prefetch(e.argument);
    if (e.kind() == Kind::kFree) network_->Prefetch(e.index());
  });
  return coming.size();
}

template <typename Events>
void PacketShard<Events>::Handle(const PacketEvent& e) {
  const uint32_t i = e.index();
  switch (e.kind()) {
    case Kind::kArrive:
      return Arrive(i, e.argument);
    case Kind::kSignal:
      return OnSignal(i, e.argument);
    case Kind::kFree:
      port(i).posted = false;
      return Serve(i);
    default:
      return ends_->HandleAtEnd(e);
  }
}

template <typename Events>
void PacketShard<Events>::ChangeLink(uint32_t index, double share, int64_t now) {
  now_ = now;
  Port& p = port(index);
  network_->SetBandwidth(index, share);
  if (share > 0) {
    if (p.waiting != 0 || p.ready != 0) Kick(index);
  } else {
    for (uint8_t c = 0; c < options_.classes; ++c) {
      while (network_->queue(index, c).head != kNoIndex) Drop(Dequeue(index, c), index);
    }
  }
  FindNext();
}

template <typename Events>
void PacketShard<Events>::Settle(PacketTotals* totals) {
  *totals += counters_;
  counters_ = PacketTotals();
  for (const uint32_t packet : given_) pool_.Give(packet);
  given_.clear();
}

template <typename Events>
uint64_t PacketShard<Events>::MemoryBytes() const {
  uint64_t bytes = events_.MemoryBytes() + given_.capacity() * sizeof(uint32_t);
  for (const PacketMail& mail : mail_) {
    for (const auto& to : mail.to) bytes += to.capacity() * sizeof(PacketEvent);
  }
  return bytes;
}

template class PacketShard<HeapEvents>;
template class PacketShard<BucketEvents>;

}  // namespace chakra::packet
