// One part of a packet simulation: its agenda, its ports, and the loop that takes event by event.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "backends/link_use.h"
#include "backends/packet/ends/ends.h"
#include "backends/packet/events/agenda.h"
#include "backends/packet/network/network.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/options.h"
#include "backends/packet/ports/ports.h"

namespace chakra::packet {

// What happens at one instant is in the order of PacketEvent. `Events` is a queue of events.h.
//
// A shard touches its own nodes, the packets there, and what PortInfo and PortCredit leave to the other end
// of a link. What it does reaches other shards PacketNetwork::lookahead() later, as mail.
template <typename Events>
class alignas(64) Shard {
 public:
  // The others must outlive it. `may_fail`: links. `ends`: where packets end; shard 0 alone has any to do
  // with it. `large`: see PrefetchComing(); it changes while no shard runs.
  Shard(PacketNetwork* network, PacketPool* pool, const PathTable* paths, const PacketOptions& options,
        bool may_fail, uint32_t part, Ends<Events>* ends, const bool* large)
      : network_(*network),
        pool_(*pool),
        paths_(*paths),
        ends_(*ends),
        large_(*large),
        agenda_(part, network->parts()),
        ports_(network, pool, paths, options, may_fail, &agenda_, ends) {}

  Agenda<Events>& agenda() { return agenda_; }
  const Agenda<Events>& agenda() const { return agenda_; }
  Ports<Events, Ends<Events>>& ports() { return ports_; }

  // Takes what others posted for this one in the window before. (Flat: a call for each event costs a run a
  // fiftieth of its instructions.)
  [[gnu::flatten]] void TakeMail(const std::vector<Shard*>& shards);
  // All events up to and at `last`, unless stops() says so before one of them.
  template <typename Stops>
  bool RunUnless(int64_t last, const Stops& stops);
  void Run(int64_t last) {
    RunUnless(last, [] { return false; });
    FindNext();
  }
  // Of a port of this part: its packets are lost while it is down.
  void ChangeLink(uint32_t port, double share, int64_t now) {
    agenda_.set_now(now);
    ports_.ChangeLink(port, share);
    FindNext();
  }

  // When the first event is, mail that has not been taken left out; as of Run() or ChangeLink().
  int64_t next() const { return next_; }
  // Adds what was counted since the last call, and gives packets back.
  void Settle(PacketTotals* totals) {
    totals->events += events_;
    events_ = 0;
    ports_.Settle(totals);
  }
  // Adds what was counted since the last Settle().
  void AddCounters(PacketTotals* totals) const {
    totals->events += events_;
    *totals += ports_.counters();
  }
  uint64_t MemoryBytes() const { return agenda_.MemoryBytes() + ports_.MemoryBytes(); }

 private:
  using Kind = PacketEvent::Kind;

  void FindNext() { next_ = agenda_.events().at(); }
  size_t PrefetchComing();
  void Handle(const PacketEvent& event);

  PacketNetwork& network_;
  PacketPool& pool_;
  const PathTable& paths_;
  Ends<Events>& ends_;
  const bool& large_;
  Agenda<Events> agenda_;
  Ports<Events, Ends<Events>> ports_;
  size_t prefetched_ = 0;  // of the next events
  uint64_t events_ = 0;    // that were handled
  int64_t next_ = std::numeric_limits<int64_t>::max();
};

}  // namespace chakra::packet
