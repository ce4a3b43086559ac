// One part of a packet simulation: its events, its ports, and the loop over the events.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "backends/link_use.h"
#include "backends/packet/ends/ends.h"
#include "backends/packet/events/event_loop.h"
#include "backends/packet/network/network.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/options.h"
#include "backends/packet/ports/ports.h"

namespace chakra::packet {

// Events at one instant are handled in the order of PacketEvent. `Events` is a queue of events.h.
//
// A shard only changes its own nodes, the packets there, and those members of PortInfo and PortCredit that
// belong to the other end of a link. An event that it posts to another shard happens at least
// PacketNetwork::lookahead() later.
template <typename Events>
class alignas(64) Shard {
 public:
  // All pointers must outlive this object. `may_fail`: links may go down or lose packets. `ends`: where
  // packets end; only shard 0 uses it. `large`: see PrefetchComing(); only changes while no shard runs.
  Shard(PacketNetwork* network, PacketPool* pool, const PathTable* paths, const PacketOptions& options,
        bool may_fail, uint32_t part, Ends<Events>* ends, const bool* large)
      : network_(*network),
        pool_(*pool),
        paths_(*paths),
        ends_(*ends),
        large_(*large),
        event_loop_(part, network->parts()),
        ports_(network, pool, paths, options, may_fail, &event_loop_, ends) {}

  EventLoop<Events>& event_loop() { return event_loop_; }
  const EventLoop<Events>& event_loop() const { return event_loop_; }
  Ports<Events, Ends<Events>>& ports() { return ports_; }

  // Takes the events that other shards posted for this one in the previous window. (Flattened: one call for
  // each event would add 2 % to the instructions of a run.)
  [[gnu::flatten]] void TakeMessages(const std::vector<Shard*>& shards);
  // Handles all events up to and including `last`. Stops before an event, and returns false, if stops()
  // returns true.
  template <typename Stops>
  bool RunUnless(int64_t last, const Stops& stops);
  void Run(int64_t last) {
    RunUnless(last, [] { return false; });
    FindNext();
  }
  // Changes a link of a port of this part; while the link is down, its packets are lost.
  void ChangeLink(uint32_t port, double share, int64_t now) {
    event_loop_.set_now(now);
    ports_.ChangeLink(port, share);
    FindNext();
  }

  // Time of the first event after the last Run() or ChangeLink(), without events from other shards that are
  // not taken yet.
  int64_t next() const { return next_; }
  // Adds the counts since the last call, and gives packets back.
  void Settle(PacketTotals* totals) {
    totals->events += events_;
    events_ = 0;
    ports_.Settle(totals);
  }
  // Adds the counts since the last Settle().
  void AddCounters(PacketTotals* totals) const {
    totals->events += events_;
    *totals += ports_.counters();
  }
  uint64_t MemoryBytes() const { return event_loop_.MemoryBytes() + ports_.MemoryBytes(); }

 private:
  using Kind = PacketEvent::Kind;

  void FindNext() { next_ = event_loop_.events().at(); }
  size_t PrefetchComing();
  void Handle(const PacketEvent& event);

  PacketNetwork& network_;
  PacketPool& pool_;
  const PathTable& paths_;
  Ends<Events>& ends_;
  const bool& large_;
  EventLoop<Events> event_loop_;
  Ports<Events, Ends<Events>> ports_;
  size_t prefetched_ = 0;  // number of the next events that PrefetchComing() has seen
  uint64_t events_ = 0;    // handled events
  int64_t next_ = std::numeric_limits<int64_t>::max();
};

}  // namespace chakra::packet
