// `packet`: every packet over every link, through the queues of ports and
// switches, sent as transports allow.
//
// A message is received when its last packet is there; it is sent when its last
// packet has left its device the first time. Acknowledgements go back over the
// route of the other direction. Devices that messages pass through forward
// packets like switches with unlimited buffers.
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
#include "backends/packet/skip/gliding_sim.h"
#include "backends/packet/skip/repeating_sim.h"

namespace chakra::packet {

// `Sim`: a PacketSim, or what skips a part of it.
template <typename Sim>
class PacketFabricOn final : public Fabric,
                             public PathPrices,
                             public FabricReport,
                             private WayFinder,
                             private FlowMaker,
                             private LinkLoad {
 public:
  PacketFabricOn(const Topology& topology, const FabricOptions& options);

  // What MakeFabric() refuses: a buffer smaller than what its ports set aside, and what
  // CheckPacketOptions() refuses.
  static absl::Status Check(const Topology& topology, const FabricOptions& options);

  // `options` with what follows from them: how packets are spread, and RoutingOptions::queue_pairs ways of
  // which a message takes the one of its tag, modulo their number.
  static FabricOptions Resolved(const FabricOptions& options);
  // The link has that share of its bandwidth, > 0, until the next change of it: from its last AdvanceTo() on
  // and the least latency of links later, since parts of the network may be ahead by less than that. When it
  // takes effect hangs on nothing else.
  void SetShare(uint32_t link, double share);
  // What connections that begin take the link to have from here on, while packets go on as they are: for
  // calls of Start(), and to be put back. Returns the share before.
  double ShowShare(uint32_t link, double share);

  FlowId Start(const Flow& flow, Time now) override;
  // A flow of the list is made when its turn comes at its card, where that changes nothing: packets in
  // windows that are fixed, nothing is lost, and ways do not change.
  void StartAll(std::shared_ptr<const FlowList> flows, Time now) override;
  uint64_t FlowMemory(uint64_t bytes) const override;
  Time NextEvent() override { return NextEvent(Time::Zero()); }
  Time NextEvent(Time limit) override;
  void AdvanceTo(Time t, std::vector<FlowEnd>* ended) override;
  // Of a message alone: store and forward, packet by packet.
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
  // Ports of switches may be ahead of the last AdvanceTo() by less than the least latency of links.
  const PacketNetwork& network() const {
    sim_.Settle();
    return network_;
  }
  uint64_t MemoryBytes() const { return Settled().MemoryBytes(); }
  // Of all kinds, at this moment.
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
  // A share of a link from `at` on.
  struct ShareChange {
    int64_t at;  // ps
    uint32_t link;
    double share;
  };

  void Find(const Connection& connection, uint32_t way) override;
  uint32_t Make(const FlowList& flows, uint64_t order, uint32_t i) override;
  void Ended(const Connection& connection) override;
  uint8_t ClassOf(const Flow& flow) const;
  // The open connection that messages of the tag go over one after the other; kNoIndex: there is none.
  uint32_t OpenConnection(const Flow& flow) const;
  void Fill(const Flow& flow, uint64_t order, uint32_t connection, Message* message);
  // The first port of a flow, once there are ports for all of its way there and back.
  uint32_t FirstPort(const Flow& flow);
  // What FirstPort() remembers for the flows from `src` in whose direction `dst` lies.
  uint32_t& FirstPortTowards(int src, int dst);
  void StartLater(const std::shared_ptr<const FlowList>& flows, Time now);
  const Sim& Settled() const {
    sim_.Settle();
    return sim_;
  }
  double FlowsOn(uint32_t link) const override;
  uint32_t WaysOf(int src, int dst);
  uint32_t PortOf(const Hop& hop);
  // The route of a message by its number, into path_. False: there is none.
  bool FindPath(int src, int dst, uint64_t tag);
  // The same into the table of paths.
  bool AddPath(int src, int dst, uint64_t tag, uint32_t* first, uint8_t* hops);
  void ChangeLinks();
  // The first of them, and those of the same instant.
  void ChangeShares();
  void ApplyShare(uint32_t link, double share, int64_t at);
  int64_t NextAt();
  // All up to and at `t`, but stops after the first instant at which something is told.
  void RunTo(int64_t t, bool stop);

  PacketOptions options_;  // Resolved()
  mutable PathCost cost_;
  PacketNetwork network_;
  mutable Sim sim_;                               // it changes nothing that is told when it settles
  absl::flat_hash_map<uint64_t, uint32_t> ways_;  // by source and destination
  // Of flows in order: their connection, of Make() and, with its generation, of Start(). The last one counts.
  ConnectionsByTag<Sim> made_;
  absl::flat_hash_map<uint64_t, std::pair<uint32_t, uint32_t>> in_order_;
  std::vector<LinkChange> changes_;  // by time
  size_t next_change_ = 0;
  std::deque<ShareChange> shares_;  // by time
  PortSeries series_;
  uint64_t orders_ = 0;
  Time now_;
  Bandwidth slowest_;  // of all links
  Time work_;          // of all that was sent, on such a link
  bool makes_later_ = false;
  // By device, the lowest and the highest dimension in which its peer differs: kNoIndex: not yet known.
  // Empty: there are several first ports in a direction.
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
extern template class PacketFabricOn<GlidingSim>;
extern template class PacketFabricOn<RepeatingSim>;

// What does not go together among options and links: skipping and faults, thresholds and buffers. `options`:
// as PacketFabric::Resolved() has them. Errors: what PacketFabric::Check() says.
absl::Status CheckPacketFabric(const Topology& topology, const FabricOptions& options);

// By PacketOptions::skip.
std::unique_ptr<Fabric> MakePacketFabric(const Topology& topology, const FabricOptions& options);

}  // namespace chakra::packet
