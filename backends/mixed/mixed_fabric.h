// `mixed`: chosen messages by packets, all others fluid, over the same links.
//
// Each message is on one side from its start to its end: fabric `packet` or fabric `fluid`. Each side works
// as it does by itself. Where both use a link:
//
// - On the fluid side, a connection that sends packets is a background flow over the links of its paths, from
//   its start until its last packet has arrived. Fluid flows get the max-min share that it leaves. A message
//   of one packet takes no share.
// - On the packet side, a port that such a connection uses (on its path, or on the path back of its
//   acknowledgements) has the bandwidth that fluid flows leave at that instant, but at least kLeast of the
//   link's. A transport begins with the facts of whole links.
//
// It is exact where no link is used by both sides: each message then ends as in `packet` or `fluid`, to the
// picosecond; the same holds if all messages are chosen, or none. Where both sides share links it is an
// approximation: fluid flows wait in no queue, have no headers and send no acknowledgements, and a connection
// keeps its share from fluid flows even while its transport does not use it.
//
// Messages of one connection of a collective go to the same side as the earlier ones that are still under
// way.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/fluid/fluid.h"
#include "backends/mixed/choice.h"
#include "backends/packet/packet_fabric.h"

namespace chakra {

class MixedFabric final : public Fabric, public PathPrices, public FabricReport {
 public:
  // The minimum share of a link's bandwidth for packets. Acknowledgements of 64 bytes for 4,096 need a
  // quarter of it.
  static constexpr double kLeast = 1.0 / 16;

  // PacketChoices must have passed Check().
  MixedFabric(const Topology& topology, const FabricOptions& options);
  // The checks of MakeFabric(): CheckPacketChoices(), and no routing by load, because each side only knows
  // its own load.
  static absl::Status Check(const Topology& topology, const FabricOptions& options);

  FlowId Start(const Flow& flow, Time now) override;
  Time NextEvent() override { return NextEvent(Time::Zero()); }
  Time NextEvent(Time limit) override;
  void AdvanceTo(Time t, std::vector<FlowEnd>* ended) override;
  // The cost on the side to which such a message would go now.
  FlowCost Cost(int src, int dst, uint64_t bytes) const override {
    return SideOf(src, dst).Cost(src, dst, bytes);
  }
  std::vector<LinkCost> CostByLinks(int src, int dst, uint64_t bytes) const override {
    return SideOf(src, dst).CostByLinks(src, dst, bytes);
  }
  void Account(int src, int dst, uint64_t bytes, uint64_t times) override {
    fluid_.Account(src, dst, bytes, times);
  }
  std::vector<DimensionTraffic> Traffic() const override;
  // The sum of what both sides did on a link. If the series of the two sides have different buckets, the
  // shorter ones are summed up to the longer ones.
  LinkUses Links(size_t most) const override;
  PacketTotals Packets() const override;
  std::string WhyStuck() const override { return packet_.WhyStuck(); }

  const FluidFabric& fluid() const { return fluid_; }
  const packet::PacketFabric& packet() const { return packet_; }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  enum Side : uint8_t { kPacket, kFluid };
  // A choice, and the links and devices that it selects.
  struct Chosen {
    PacketChoice choice;
    std::vector<bool> links, devices;
  };
  // A message under way.
  struct Message {
    uint64_t order = 0;
    Time delay;  // to be added to its end
    bool tell_sent = false;
    uint32_t connection = kNone;
    uint32_t next = kNone;  // next message of the same tag
  };
  struct Queue {
    uint32_t first, last;
  };
  // A connection that sends packets, as the fluid side sees it.
  struct Connection {
    int src = 0, dst = 0, service_class = 0;
    uint64_t tag = 0;
    uint32_t messages = 0;  // messages under way; 0: not in use
    bool large = false;     // has had a message of more than one packet, so it takes a share
    Bandwidth limit;        // of its messages
    uint32_t background = kNone;
    std::vector<RouteHop> there, back;
  };
  struct LinkState {
    uint32_t users = 0;  // number of connections
    double healthy = 1;  // share of its bandwidth that faults leave
    double applied = 1;  // share of its bandwidth that the packet side has
  };
  struct Told {
    uint64_t order;
    FlowEnd end;
    bool Before(const Told& o) const {
      if (end.at != o.end.at) return end.at < o.end.at;
      return order != o.order ? order < o.order : end.kind < o.end.kind;
    }
  };

  bool ByPackets(const Flow& flow, Time now) const;
  // The side to which a message from src to dst would go now.
  const PathPrices& SideOf(int src, int dst) const;
  bool Crosses(const Flow& flow, const std::vector<bool>& links) const;
  // The links that packets of a tag use now, each once, with the share of the packets.
  void WaysOf(int src, int dst, uint64_t tag, std::vector<RouteHop>* ways) const;
  void StartPackets(const Flow& flow, uint32_t message, Time now);
  uint32_t Connect(const Flow& flow);
  void Disconnect(uint32_t connection);
  void FindWays(uint32_t connection);
  void LoseWays(uint32_t connection);
  void AddBackground(uint32_t connection);
  void RemoveBackground(uint32_t connection);
  void Use(const Hop& hop);
  void Unuse(const Hop& hop);
  void Apply(const Hop& hop);
  void Remember(Side side, uint64_t tag, uint32_t message);
  void Forget(Side side, uint64_t tag);
  // Advances both sides to `t`; nothing may happen before.
  void Step(Time t);
  void RunTo(Time t);
  Time NextInside(Time limit);
  void ApplyChanged();
  void ChangeLinks();
  void Take(Side side, std::vector<FlowEnd>* ended);

  Topology topology_;
  uint32_t mtu_;
  FabricOptions resolved_;  // packet::PacketFabric::Resolved()
  packet::PacketOptions resolved_packet_;
  mutable FluidFabric fluid_;
  packet::PacketFabric packet_;
  std::unique_ptr<Router> router_;  // for the paths of packets; null if there is no network
  bool one_way_;                    // each connection has one path
  bool same_way_;                   // both sides use the same path
  std::vector<Chosen> chosen_;
  std::vector<LinkState> links_;     // by link of the topology
  std::vector<LinkChange> changes_;  // by time
  size_t next_change_ = 0;
  std::vector<Message> messages_;
  std::vector<uint32_t> free_messages_;
  std::array<absl::flat_hash_map<uint64_t, Queue>, 2> under_way_;  // by side and tag
  std::vector<Connection> connections_;
  std::vector<uint32_t> free_connections_;
  uint64_t fluid_under_way_ = 0;  // number of messages
  Heap4<Told> told_;
  std::vector<FlowEnd> of_packets_, of_fluid_;
  std::vector<uint32_t> changed_;
  mutable std::vector<RouteHop> ways_;
  mutable std::vector<Hop> path_;
  uint64_t orders_ = 0;
  PacketTotals totals_;  // messages and bytes of both sides
  Time now_;
};

}  // namespace chakra
