// `packet`: sends every packet over every link, through the queues of ports and switches, as fast as
// transports allow.
//
// A message is received when its last packet has arrived. It is sent when its last packet has left its device
// for the first time. Acknowledgements take the route of the opposite direction. Devices that forward packets
// behave like switches with unlimited buffers.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/analytical/path_cost.h"
#include "backends/fabric.h"
#include "backends/fabric_options.h"
#include "backends/packet/ends/by_tag.h"
#include "backends/packet/ends/later.h"
#include "backends/packet/network/port_series.h"
#include "backends/packet/options.h"
#include "backends/packet/parts/sim.h"
#include "backends/packet/skip/repeating_sim.h"
#include "backends/packet/skip/steady_sim.h"

namespace chakra::packet {

// `Sim`: a PacketSim, or a simulation that skips a part of it.
template <typename Sim>
class PacketFabricOn final : public Fabric,
                             public PathPrices,
                             public FabricReport,
                             private WayFinder,
                             private FlowMaker,
                             private LinkLoad {
 public:
  PacketFabricOn(const Topology& topology, const FabricOptions& options);

  // The checks of MakeFabric(): the buffer must be larger than the bytes that its ports reserve, and
  // CheckPacketOptions() must pass.
  static absl::Status Check(const Topology& topology, const FabricOptions& options);

  // `options` with derived settings: how packets are spread, and RoutingOptions::queue_pairs paths, of which
  // a message takes number (tag modulo their number).
  static FabricOptions Resolved(const FabricOptions& options);
  // Sets the share (> 0) of its bandwidth that the link has until its next change. The change takes effect at
  // the last AdvanceTo() plus the minimum latency of links, because parts of the network may be ahead by less
  // than that. This instant depends on nothing else.
  void SetShare(uint32_t link, double share);
  // Sets the share of the link that connections see when they begin, while packets continue as before. The
  // caller sets it around calls of Start() and then restores it. Returns the previous share.
  double ShowShare(uint32_t link, double share);

  FlowId Start(const Flow& flow, Time now) override;
  // Makes a flow of the list only when the NIC of its sender comes to it, if that changes no result: windows
  // are fixed, no packet is lost, and paths do not change.
  void StartAll(std::shared_ptr<const FlowList> flows, Time now) override;
  uint64_t FlowMemory(uint64_t bytes) const override;
  Time NextEvent() override { return NextEvent(Time::Zero()); }
  Time NextEvent(Time limit) override;
  void AdvanceTo(Time t, std::vector<FlowEnd>* ended) override;
  // The cost of a message without contention: store and forward, packet by packet.
  FlowCost Cost(int src, int dst, uint64_t bytes) const override;
  std::vector<LinkCost> CostByLinks(int src, int dst, uint64_t bytes) const override {
    return cost_.ByLinks(src, dst, bytes, Cost(src, dst, bytes));
  }
  void Account(int src, int dst, uint64_t bytes, uint64_t times) override {
    cost_.Account(src, dst, bytes, times);
  }
  std::vector<DimensionTraffic> Traffic() const override { return cost_.Traffic(); }
  LinkUses Links(size_t most) const override;
  PacketTotals Packets() const override;
  std::string WhyStuck() const override { return Settled().WhyStuck(); }

  PacketTotals counters() const { return Settled().counters(); }
  // Ports of switches may be ahead of the last AdvanceTo() by less than the minimum latency of links.
  const PacketNetwork& network() const {
    sim_.Settle();
    return network_;
  }
  uint64_t MemoryBytes() const { return Settled().MemoryBytes(); }
  // Packets of all kinds, at this moment.
  template <typename S = Sim>
  size_t packets_in_flight() const requires requires(const S& s) {
    s.pool();
  }
  { return Settled().pool().in_flight(); }
  template <typename S = Sim>
  size_t most_packets_in_flight() const requires requires(const S& s) {
    s.pool();
  }
  { return Settled().pool().most_in_flight(); }

 private:
  // A change of a link's share of its bandwidth at time `at`.
  struct ShareChange {
    int64_t at;  // ps
    uint32_t link;
    double share;
  };

  void Find(const Connection& connection, uint32_t way) override;
  uint32_t Make(const FlowList& flows, uint64_t order, uint32_t i) override;
  void Ended(const Connection& connection) override;
  uint8_t ClassOf(const Flow& flow) const;
  // The open connection that carries the messages of this tag one after the other; kNoIndex: none.
  uint32_t OpenConnection(const Flow& flow) const;
  void Fill(const Flow& flow, uint64_t order, uint32_t connection, Message* message);
  // The first port of the flow's path. Makes the ports of the path and of the path back, if there are none
  // yet.
  uint32_t FirstPort(const Flow& flow);
  // The cache entry of FirstPort() for flows from `src` in the direction of `dst`.
  uint32_t& FirstPortTowards(int src, int dst);
  void StartLater(const std::shared_ptr<const FlowList>& flows, Time now);
  const Sim& Settled() const {
    sim_.Settle();
    return sim_;
  }
  double FlowsOn(uint32_t link) const override;
  uint32_t WaysOf(int src, int dst);
  uint32_t PortOf(const Hop& hop);
  // Puts the path of a message with this tag into path_. False: there is none.
  bool FindPath(int src, int dst, uint64_t tag);
  // The same, but adds the path to the table of paths.
  bool AddPath(int src, int dst, uint64_t tag, uint32_t* first, uint8_t* hops);
  void ChangeLinks();
  // Applies the first of shares_, and all others at the same instant.
  void ChangeShares();
  void ApplyShare(uint32_t link, double share, int64_t at);
  int64_t NextAt();
  // Runs all events up to and including `t`. With `stop`, ends after the first instant at which something is
  // reported.
  void RunTo(int64_t t, bool stop);

  PacketOptions options_;  // Resolved()
  mutable PathCost cost_;
  PacketNetwork network_;
  mutable Sim sim_;                               // mutable, because Settle() changes no result
  absl::flat_hash_map<uint64_t, uint32_t> ways_;  // by source and destination
  // The connection of each tag with flows in order: those of Make(), and those of Start() with their
  // generation. The one made last is valid.
  ConnectionsByTag<Sim> made_;
  absl::flat_hash_map<uint64_t, std::pair<uint32_t, uint32_t>> in_order_;
  std::vector<LinkChange> changes_;  // by time
  size_t next_change_ = 0;
  std::deque<ShareChange> shares_;  // by time
  PortSeries series_;
  uint64_t orders_ = 0;
  Time now_;
  Bandwidth slowest_;  // of all links
  Time work_;          // transfer time of all sent bytes on a link of this bandwidth
  bool makes_later_ = false;
  // By device, lowest and highest dimension in which the other end differs; kNoIndex: not yet known. Empty: a
  // direction may have several first ports.
  std::vector<uint32_t> first_ports_;
  std::vector<Hop> hops_;
  std::vector<uint32_t> path_;  // ports; scratch
};

// `Events`: a queue of events.h.
template <typename Events>
using PacketFabricOf = PacketFabricOn<PacketSim<Events>>;
using PacketFabric = PacketFabricOf<BucketEvents>;
extern template class PacketFabricOn<PacketSim<HeapEvents>>;
extern template class PacketFabricOn<PacketSim<BucketEvents>>;
extern template class PacketFabricOn<SteadySim>;
extern template class PacketFabricOn<RepeatingSim>;

// Checks options that depend on each other and on the links: skipping and faults, thresholds and buffers.
// `options` are PacketFabric::Resolved(). Errors: see PacketFabric::Check().
absl::Status CheckPacketFabric(const Topology& topology, const FabricOptions& options);

// Makes the class for PacketOptions::skip.
std::unique_ptr<Fabric> MakePacketFabric(const Topology& topology, const FabricOptions& options);

}  // namespace chakra::packet
