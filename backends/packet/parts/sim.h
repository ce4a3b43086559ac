// A packet simulation: its components, and the interface for its owner.
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

// Simulates messages over connections, whose packets go over the ports of a network, event by event:
//   Ways     the paths of packets
//   Shard    the ports of one part of the network, and their events
//   Ends     messages and connections, which are in the first part
//   Windows  runs all shards in the order of time
// `Events` is a queue of events.h.
template <typename Events>
class PacketSim {
 public:
  using Told = packet::Told;

  // `network` must outlive this object. `lossy`: links may fail, so that even lossless switches lose packets.
  // `threads` (at least 1) changes no result.
  PacketSim(PacketNetwork* network, const PacketOptions& options, bool lossy, int threads = 1);

  // Must be called before the first Connect(). The finder calls Settle() before it makes a port.
  void set_finder(WayFinder* finder) { ways_.set_finder(finder); }
  Ways& ways() { return ways_; }
  const Ways& ways() const { return ways_; }

  // Makes a message, which the caller fills in and sends; or reports a message that needs no network.
  uint32_t NewMessage() { return ends_.messages().New(); }
  Message& message(uint32_t i) { return ends_.messages()[i]; }
  void TellAt(uint64_t tag, uint64_t order, Time at) { ends_.TellAt(tag, order, at.picos()); }
  // See Ends.
  uint32_t Connect(int src, int dst, uint64_t tag, uint8_t traffic_class, uint32_t ways) {
    return ends_.Connect(src, dst, tag, traffic_class, ways);
  }
  const Connection& connection(uint32_t i) const { return ends_.senders().connection(i); }
  void Send(uint32_t message, int64_t now) { ends_.Send(message, now); }

  // See Ends and Senders. NewExpected() makes a message for FlowMaker::Make().
  void set_maker(FlowMaker* maker) { ends_.senders().set_maker(maker); }
  uint32_t SendLater(uint32_t waiting, uint32_t port, uint8_t traffic_class,
                     const std::shared_ptr<const FlowList>& flows, uint64_t first, uint32_t i, int64_t now) {
    return ends_.SendLater(waiting, port, traffic_class, flows, first, i, now);
  }
  uint32_t NewExpected() { return ends_.messages().NewExpected(); }

  // See Windows.
  int64_t at() { return windows_.at(); }
  void Run(int64_t limit, bool stop, int64_t bound) { windows_.Run(limit, stop, bound); }
  void set_overlap(bool overlap) { windows_.set_overlap(overlap); }
  void Settle() { windows_.Settle(); }
  void ChangeLink(uint32_t port, double share, int64_t now) { windows_.ChangeLink(port, share, now); }
  // Connections find their paths again.
  void Reroute(int64_t now) {
    Settle();
    ends_.Reroute(now);
  }
  int64_t now() const { return first_.event_loop().now(); }  // ps: of the last event

  // Reports about messages; the owner empties the list.
  std::vector<Told>& told() { return ends_.messages().told(); }
  uint64_t open_messages() const { return ends_.messages().open(); }
  const Ends<Events>& ends() const { return ends_; }
  PacketTotals counters() const {
    PacketTotals totals = windows_.totals();
    ends_.AddCounters(&totals);
    return totals;
  }
  // Makes counts complete up to `now`, in simulations that delay some of them.
  void CountAll(int64_t /*now*/) { Settle(); }
  PortTotals Extra(uint32_t /*port*/) const { return {}; }  // counts of traffic that was not simulated
  // For use when no events are left: the ports that wait for each other, or the connections without a path.
  // "": nothing waits.
  std::string WhyStuck() const;
  // Only among these ports, if others do not belong to this simulation.
  std::string WhyStuck(const std::vector<uint32_t>& ports) const;
  uint64_t MemoryBytes() const {
    return windows_.MemoryBytes() + ends_.MemoryBytes() + ways_.MemoryBytes() + pool_.MemoryBytes() +
           network_.MemoryBytes();
  }
  const PacketPool& pool() const { return pool_; }
  const PacketNetwork& network() const { return network_; }
  const PacketOptions& options() const { return options_; }

  // For simulations that skip. Cut() removes packets that are not sent yet from a message. LeaveBuffers()
  // removes the packets that wait in `ports` from the buffers of switches.
  void Cut(uint32_t message, uint64_t packets) { ends_.messages().Cut(message, packets, options_.mtu); }
  void LeaveBuffers(const std::vector<uint32_t>& ports);
  // Whether no packets are in flight and all connections have ended.
  bool Quiet() {
    Settle();
    return pool_.in_flight() == 0 && ends_.senders().open() == 0;
  }

 private:
  PacketNetwork& network_;
  PacketOptions options_;
  PacketPool pool_;
  Ways ways_;
  bool large_ = false;  // more packets are in flight than caches can hold
  Shard<Events> first_;
  Ends<Events> ends_;
  alignas(64) Windows<Events> windows_;  // other threads read it
};

extern template class PacketSim<HeapEvents>;
extern template class PacketSim<BucketEvents>;

}  // namespace chakra::packet
