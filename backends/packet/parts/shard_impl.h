// Definitions of Shard, for files that instantiate it.
#pragma once

#include <algorithm>
#include <span>

#include "backends/packet/parts/shard.h"

namespace chakra::packet {

// The main loop of a packet simulation. It is short, so that its callees can be read separately: ports handle
// the events of links, ends those of connections and messages.
template <typename Events>
template <typename Stops>
bool Shard<Events>::RunUnless(int64_t last, const Stops& stops) {
  while (event_loop_.events().HasUpTo(last)) {
    if (stops()) return false;
    if (prefetched_ == 0) prefetched_ = PrefetchComing();
    prefetched_ -= prefetched_ > 0;
    const PacketEvent e = event_loop_.events().Pop();
    event_loop_.set_now(e.at);
    ++events_;
    Handle(e);
  }
  return true;
}

template <typename Events>
void Shard<Events>::Handle(const PacketEvent& e) {
  switch (e.kind()) {
    case Kind::kArrive:
      return ports_.OnArrival(e.index(), e.argument);
    case Kind::kSignal:
      return ports_.OnSignal(e.index(), e.argument);
    case Kind::kFree:
      return ports_.OnFree(e.index());
    default:
      return ends_.Handle(e);
  }
}

// Prefetches memory in two steps. The first step is for the objects of events that will come later: arriving
// packets, and ports that become free. The second is for the next events: the ports to which those packets
// go, and the packets that wait at those ports. Returns the number of events in the second step.
template <typename Events>
size_t Shard<Events>::PrefetchComing() {
  constexpr size_t kMost = 32;
  const std::span<const PacketEvent> coming = event_loop_.events().Coming(kMost);
  if (!large_) return coming.size();
  for (const PacketEvent& e : coming) {
    if (e.kind() == Kind::kArrive) {
      const Packet& k = pool_[e.argument];
      if (k.hop + 1 < k.hops) network_.Prefetch(paths_[k.ports + k.hop + 1u]);
    } else if (e.kind() == Kind::kFree) {
      for (uint32_t c = 0; c < 2; ++c) {
        const uint32_t head = network_.queue(e.index(), c).head;
        if (head != kNoIndex) pool_.Prefetch(head);
      }
    }
  }
  event_loop_.events().ForEachBeyond([this](const PacketEvent& e) {
    if (e.kind() == Kind::kArrive) pool_.Prefetch(e.argument);
    if (e.kind() == Kind::kFree) network_.Prefetch(e.index());
  });
  return coming.size();
}

template <typename Events>
void Shard<Events>::TakeMessages(const std::vector<Shard*>& shards) {
  // Another thread may have written the events, so they are prefetched long before they are read.
  constexpr size_t kAhead = 64, kPerLine = 64 / sizeof(PacketEvent);  // events
  const auto mailbox_from = [this](const Shard* shard) -> const std::vector<PacketEvent>& {
    return shard->event_loop_.MessagesBefore(event_loop_.window(), event_loop_.part());
  };
  for (const Shard* from : shards) Prefetch(&mailbox_from(from));
  for (const Shard* from : shards) {
    const std::vector<PacketEvent>& mailbox = mailbox_from(from);
    for (size_t i = 0; i < std::min(kAhead, mailbox.size()); i += kPerLine) Prefetch(&mailbox[i]);
  }
  for (const Shard* from : shards) {
    for (const PacketEvent& e : mailbox_from(from)) {
      Prefetch(reinterpret_cast<const char*>(&e) + kAhead * sizeof(PacketEvent));
      // Packets that another thread had are far from this core's cache.
      if (e.kind() == Kind::kArrive) pool_.Prefetch(e.argument);
      event_loop_.events().Push(e);
    }
  }
}

}  // namespace chakra::packet
