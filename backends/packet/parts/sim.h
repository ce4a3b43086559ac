// A packet simulation: what it is made of, and what its owner does with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/fabric.h"
#include "backends/packet/ends/ends.h"
#include "backends/packet/events/events.h"
#include "backends/packet/network/network.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/network/port_totals.h"
#include "backends/packet/options.h"
#include "backends/packet/parts/shard.h"
#include "backends/packet/parts/windows.h"
#include "backends/packet/ways/ways.h"

namespace chakra::packet {

// Messages over connections, whose packets go over the ports of a network, event by event:
//   Ways     the paths of packets
//   Shard    the ports of a part of the network, and the events there
//   Ends     messages and connections, which are in the first part
//   Windows  all shards in time
// `Events` is a queue of events.h.
template <typename Events>
class PacketSim {
 public:
  using Told = packet::Told;

  // The network must outlive it. `lossy`: links may fail, so that even lossless switches lose packets.
  // `threads` (at least 1) change no result.
  PacketSim(PacketNetwork* network, const PacketOptions& options, bool lossy, int threads = 1);

  // Before the first Connect(). Ways are found by the owner, who calls Settle() before it makes a port.
  void set_finder(WayFinder* finder) { ways_.set_finder(finder); }
  Ways& ways() { return ways_; }
  const Ways& ways() const { return ways_; }

  // A message, to be filled in and sent; or one that needs no network.
  uint32_t NewMessage() { return ends_.messages().New(); }
  Message& message(uint32_t i) { return ends_.messages()[i]; }
  void TellAt(uint64_t tag, uint64_t order, Time at) { ends_.TellAt(tag, order, at.picos()); }
  // As of Ends.
  uint32_t Connect(int src, int dst, uint64_t tag, uint8_t traffic_class, uint32_t ways) {
    return ends_.Connect(src, dst, tag, traffic_class, ways);
  }
  const Connection& connection(uint32_t i) const { return ends_.senders().connection(i); }
  void Send(uint32_t message, int64_t now) { ends_.Send(message, now); }

  // As of Ends and Senders. NewExpected(): a message of FlowMaker::Make().
  void set_maker(FlowMaker* maker) { ends_.senders().set_maker(maker); }
  uint32_t SendLater(uint32_t waiting, uint32_t port, uint8_t traffic_class,
                     const std::shared_ptr<const FlowList>& flows, uint64_t first, uint32_t i, int64_t now) {
    return ends_.SendLater(waiting, port, traffic_class, flows, first, i, now);
  }
  uint32_t NewExpected() { return ends_.messages().NewExpected(); }

  // As of Windows.
  int64_t at() { return windows_.at(); }
  void Run(int64_t limit, bool stop, int64_t bound) { windows_.Run(limit, stop, bound); }
  void set_overlap(bool overlap) { windows_.set_overlap(overlap); }
  void Settle() { windows_.Settle(); }
  void ChangeLink(uint32_t port, double share, int64_t now) { windows_.ChangeLink(port, share, now); }
  // Connections look for their ways anew.
  void Reroute(int64_t now) {
    Settle();
    ends_.Reroute(now);
  }
  int64_t now() const { return first_.agenda().now(); }  // ps: of the last event

  // What happened to messages; the owner takes it.
  std::vector<Told>& told() { return ends_.messages().told(); }
  uint64_t open_messages() const { return ends_.messages().open(); }
  const Ends<Events>& ends() const { return ends_; }
  PacketTotals counters() const {
    PacketTotals totals = windows_.totals();
    ends_.AddCounters(&totals);
    return totals;
  }
  // So that counts are whole at `now`, where some are put off.
  void CountAll(int64_t /*now*/) { Settle(); }
  PortTotals Extra(uint32_t /*port*/) const { return {}; }  // that was not simulated
  // No event may help: the ports that wait for each other, or what waits for a route. "": nothing waits.
  std::string WhyStuck() const;
  std::string WhyStuck(const std::vector<uint32_t>& ports) const;  // of these, where others are not its own
  uint64_t MemoryBytes() const {
    return windows_.MemoryBytes() + ends_.MemoryBytes() + ways_.MemoryBytes() + pool_.MemoryBytes() +
           network_.MemoryBytes();
  }
  const PacketPool& pool() const { return pool_; }
  const PacketNetwork& network() const { return network_; }
  const PacketOptions& options() const { return options_; }

  // What skipping does: takes packets that are not yet sent out of a message; forgets what waits in ports,
  // which then is in no buffer of a switch any more.
  void Cut(uint32_t message, uint64_t packets) { ends_.messages().Cut(message, packets, options_.mtu); }
  void LeaveBuffers(const std::vector<uint32_t>& ports);
  // Nothing is under way: packets, or connections that have not ended.
  bool Quiet() {
    Settle();
    return pool_.in_flight() == 0 && ends_.senders().open() == 0;
  }

 private:
  PacketNetwork& network_;
  PacketOptions options_;
  PacketPool pool_;
  Ways ways_;
  bool large_ = false;  // more packets are in flight than caches hold
  Shard<Events> first_;
  Ends<Events> ends_;
  alignas(64) Windows<Events> windows_;  // which other threads read
};

extern template class PacketSim<HeapEvents>;
extern template class PacketSim<BucketEvents>;

}  // namespace chakra::packet
