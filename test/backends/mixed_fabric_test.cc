// Fabric `mixed`: exact where packets and fluid flows share no link, close where they do.
#include <gmock/gmock.h>

#include <cmath>

#include "test/backends/mixed_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

Topology Leaves(int devices, const std::string& more = "") {
  return OfNetwork("leaf_spine:hosts_per_leaf=4,spines=4,link=400Gb/s" + more, devices);
}

constexpr Time kLate = Time::Micros(900000);

// The links may be in any order.
void ExpectSameLinks(LinkUses got, LinkUses expected) {
  const auto before = [](const LinkUse& a, const LinkUse& b) { return a.link < b.link; };
  std::sort(got.busiest.begin(), got.busiest.end(), before);
  std::sort(expected.busiest.begin(), expected.busiest.end(), before);
  EXPECT_EQ(got.links, expected.links);
  EXPECT_EQ(got.bucket, expected.bucket);
  ASSERT_EQ(got.busiest.size(), expected.busiest.size());
  for (size_t i = 0; i < got.busiest.size(); ++i) {
    const LinkUse &a = got.busiest[i], &b = expected.busiest[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.bytes, b.bytes) << a.name;
    EXPECT_EQ(a.flows, b.flows) << a.name;
    EXPECT_EQ(a.peak, b.peak) << a.name;
    EXPECT_EQ(a.packets, b.packets) << a.name;
    EXPECT_EQ(a.most_queued, b.most_queued) << a.name;
    EXPECT_EQ(a.marks, b.marks) << a.name;
    EXPECT_EQ(a.series, b.series) << a.name;
    EXPECT_EQ(a.queued, b.queued) << a.name;
    EXPECT_EQ(a.lost, b.lost) << a.name;
    EXPECT_EQ(a.paused, b.paused) << a.name;
    EXPECT_EQ(a.counts, b.counts) << a.name;
  }
}

std::vector<LinkChange> Faults(const Topology& t) {
  return {{Time::Micros(10), LinkOf(t, "leaf.0", "spine.0"), 0},
          {Time::Micros(10), LinkOf(t, "spine.0", "leaf.0"), 0},
          {Time::Micros(20), LinkOf(t, "leaf.1", "spine.1"), 0.25},
          {Time::Micros(20), LinkOf(t, "spine.2", "leaf.1"), 1, 0.05},
          {Time::Micros(40), LinkOf(t, "leaf.0", "spine.0"), 1},
          {Time::Micros(40), LinkOf(t, "spine.0", "leaf.0"), 1}};
}

class EachTransport : public ::testing::TestWithParam<const char*> {};

TEST_P(EachTransport, AllChosenMatchesPacketExactly) {
  const Topology t = Leaves(12);
  std::mt19937_64 random(3);
  const auto flows = RandomFlows(12, 60, 300000, &random);
  FabricOptions options = Mixed({OfDevices(Range(0, 12))}, GetParam());
  options.changes = Faults(t);
  options.link_series = true;
  const Ran mixed("mixed", t, options, flows);
  options.Ask<PacketChoices>().any_of.clear();
  const Ran packet("packet", t, options, flows);
  ExpectSameEnds(mixed.ended, packet.ended);
  ExpectSameLinks(mixed.fabric->Links(1000), packet.fabric->Links(1000));
  const PacketTotals a = mixed.fabric->Packets(), b = packet.fabric->Packets();
  EXPECT_EQ(a.hops, b.hops);
  EXPECT_EQ(a.packets, b.packets);
  EXPECT_EQ(a.again, b.again);
  EXPECT_EQ(a.messages, 60u);
  EXPECT_EQ(a.fluid_messages, 0u);
}
INSTANTIATE_TEST_SUITE_P(Mixed, EachTransport,
                         ::testing::Values("", "transport=dcqcn,flow_control=pfc,buffer=8MB",
                                           "transport=nscc,buffer=8MB",
                                           "spread=packet,paths=8,recovery=selective"));

TEST(MixedFabric, NoneChosenMatchesFluidExactly) {
  const Topology t = Leaves(12);
  std::mt19937_64 random(4);
  const auto flows = RandomFlows(12, 200, 1000000, &random);
  for (const bool spray : {false, true}) {
    FabricOptions options = Mixed({Within(kLate, kLate + Time::Micros(1))});
    options.changes = Faults(t);
    options.Ask<FlowOptions>().startup = Time::Nanos(300);
    options.Ask<FlowOptions>().efficiency = 0.9;
    options.Ask<FlowOptions>().classes = {{1, 0}, {2, 0}, {1, 1}};
    if (spray) options.routing.policy = RoutingPolicy::kSpray;
    const Ran mixed("mixed", t, options, flows);
    options.Ask<PacketChoices>().any_of.clear();
    options.Drop<PacketOptions>();
    const Ran fluid("fluid", t, options, flows);
    ExpectSameEnds(mixed.ended, fluid.ended);
    ExpectSameLinks(mixed.fabric->Links(1000), fluid.fabric->Links(1000));
    EXPECT_EQ(mixed.fabric->Packets().fluid_messages, 200u);
  }
}

TEST(MixedFabric, SidesWithoutSharedLinksAreExact) {
  const Topology t = Leaves(16);
  std::mt19937_64 random(5);
  std::vector<TimedFlow> low, high, all;
  for (const TimedFlow& f : RandomFlows(4, 150, 500000, &random)) {
    TimedFlow other = f;
    other.flow.src += 8;
    other.flow.dst += 8;
    other.flow.tag += 1000;
    low.push_back(f);
    high.push_back(other);
    all.push_back(f);
    all.push_back(other);
  }
  const Ran packet("packet", t, PacketFabricOptions(""), low);
  const Ran fluid("fluid", t, FabricOptions(), high);
  const Ran mixed("mixed", t, Mixed({OfDevices(Range(0, 4))}), all);
  std::vector<FlowEnd> of_low, of_high;
  for (const FlowEnd& e : mixed.ended) (e.tag < 1000 ? of_low : of_high).push_back(e);
  ExpectSameEnds(of_low, packet.ended);
  ExpectSameEnds(of_high, fluid.ended);
}

// Device 1 sends packets, device 2 a fluid flow, both to device 0. Each has half of the last link until the
// packets have arrived.
TEST(MixedFabric, PacketAndFluidShareALinkEqually) {
  const Topology t = Star(3, 50, Time::Nanos(500));
  const uint32_t shared = LinkOf(t, "switch", "device.0");
  const std::string window = "transport=(window:bytes=1MB)";
  const std::vector<TimedFlow> flows = AtOnce({Message(1, 0, 4000000, 0), Message(2, 0, 10000000, 1)});
  const Ran mixed("mixed", t, Mixed({OfDevices({1})}, window), flows);
  FabricOptions halved = PacketFabricOptions(window);
  halved.changes = {{Time::Zero(), shared, 0.5}};
  const Ran packet("packet", t, halved, {flows[0]});
  EXPECT_EQ(mixed.Received(0), packet.Received(0));
  // The fluid flow had half of the link until then, and the whole link after that.
  const int64_t alone = 10000000 * int64_t{20} + 1000000;
  EXPECT_NEAR(static_cast<double>(mixed.Received(1).picos()),
              static_cast<double>(alone + mixed.Received(0).picos() / 2), 2);
}

// A transport that starts on a link full of fluid flows sizes its window for the whole link.
TEST(MixedFabric, TransportsStartFromWholeLinkRates) {
  const Topology t = Star(3, 50, Time::Micros(5));
  const std::vector<TimedFlow> flows = {{Message(2, 0, 1000000, 1), Time::Zero()},
                                        {Message(1, 0, 20000000, 0), Time::Micros(1)}};
  const Ran mixed("mixed", t, Mixed({OfDevices({1})}), flows);
  const Ran alone("packet", t, PacketFabricOptions(""), {flows[1]});
  const Time fluid = mixed.Received(1), packets = mixed.Received(0);
  ASSERT_LT(fluid, packets);
  // The packets had half of the link while the fluid flow ran, and the whole link after that.
  const double expected = static_cast<double>((alone.Received(0) + Time::Picos(fluid.picos() / 2)).picos());
  EXPECT_NEAR(static_cast<double>(packets.picos()), expected, 0.03 * expected);
}

double MeanError(const Topology& t, const FabricOptions& options, const std::vector<TimedFlow>& flows,
                 double* of_fluid, double* most) {
  FabricOptions packets = options;
  packets.Drop<PacketChoices>();
  const Ran all("packet", t, packets, flows), fluid("fluid", t, FabricOptions(), flows);
  const Ran mixed("mixed", t, options, flows);
  double sum = 0, fluid_sum = 0, n = 0;
  for (const TimedFlow& f : flows) {
    if (f.flow.src >= 4 && f.flow.dst >= 4) continue;
    const auto time = [&](const Ran& r) {
      return static_cast<double>((r.Received(f.flow.tag) - f.at).picos());
    };
    const double error = std::abs(time(mixed) / time(all) - 1);
    sum += error;
    *most = std::max(*most, error);
    fluid_sum += std::abs(time(fluid) / time(all) - 1);
    ++n;
  }
  *of_fluid += fluid_sum / n;
  return sum / n;
}

// Random loads: the messages of four devices go by packets, all others are fluid. The reference sends all
// messages by packets.
TEST(MixedFabric, CloserToPacketThanFluidOnSharedLinks) {
  std::mt19937_64 random(1);
  double mixed = 0, fluid = 0, most = 0;
  constexpr int kRounds = 12;
  for (int round = 0; round < kRounds; ++round) {
    const Topology t = Leaves(16);
    std::vector<TimedFlow> flows;
    Time at;
    for (uint64_t i = 0; i < 60; ++i) {
      const int src = static_cast<int>(random() % 16), dst = static_cast<int>(random() % 16);
      flows.push_back({Message(src, src == dst ? (dst + 1) % 16 : dst, 100000 + random() % 900000, i), at});
      if (random() % 2 == 0) at += Time::Nanos(static_cast<int64_t>(random() % 5000));
    }
    mixed += MeanError(t, Mixed({OfDevices(Range(0, 4))}), flows, &fluid, &most) / kRounds;
  }
  fluid /= kRounds;
  RecordProperty("mixed", std::to_string(mixed));
  RecordProperty("fluid", std::to_string(fluid));
  RecordProperty("most", std::to_string(most));
  EXPECT_LT(mixed, 0.06);
  EXPECT_LT(mixed, 0.6 * fluid);
  EXPECT_LT(most, 0.8);
}

// All devices except the first send to each other in turn; sixteen of them also send to the first.
std::vector<TimedFlow> IncastAmongAllToAll(int devices, uint64_t bytes) {
  std::vector<TimedFlow> flows;
  for (int i = 0; i < 16; ++i)
    flows.push_back({Message(1 + i * 2 % (devices - 1), 0, 4 * bytes, flows.size()), Time::Zero()});
  for (int shift = 1; shift < devices - 1; ++shift) {
    for (int i = 1; i < devices; ++i) {
      const int to = 1 + (i - 1 + shift) % (devices - 1);
      flows.push_back({Message(i, to, bytes, flows.size()), Time::Micros(shift * 5)});
    }
  }
  return flows;
}

TEST(MixedFabric, PacketIncastAmongFluidAllToAll) {
  const Topology t = Leaves(32);
  const std::vector<TimedFlow> flows = IncastAmongAllToAll(32, 100000);
  const Ran mixed("mixed", t, Mixed({OfLink("leaf.0 - device.0")}), flows);
  ExpectAllReceived(flows, mixed.ended);
  const PacketTotals totals = mixed.fabric->Packets();
  EXPECT_EQ(totals.messages, 16u);
  EXPECT_EQ(totals.fluid_messages, 31u * 30u);
  EXPECT_EQ(totals.bytes, 16u * 400000u);
  EXPECT_EQ(totals.fluid_bytes, 31u * 30u * 100000u);
  const LinkUses uses = mixed.fabric->Links(1000);
  for (const LinkUse& use : uses.busiest) {
    if (use.name == "leaf.0 - device.0 of net") {
      EXPECT_GT(use.most_queued, 200000u);
      EXPECT_EQ(use.flows, 16u);
    }
    // Only acknowledgements go over the links of others.
    if (use.name == "leaf.1 - device.5 of net") {
      EXPECT_LT(use.most_queued, 20000u);
    }
  }
  const Ran packet("packet", t, PacketFabricOptions(""), flows);
  const auto last = [&](const Ran& r) {
    Time end;
    for (const TimedFlow& f : flows) end = f.flow.dst == 0 ? std::max(end, r.Received(f.flow.tag)) : end;
    return static_cast<double>(end.picos());
  };
  EXPECT_NEAR(last(mixed) / last(packet), 1, 0.01);
}

TEST(MixedFabric, CountsBytesOfBothSides) {
  const Topology t = Leaves(8);
  std::mt19937_64 random(6);
  const auto flows = RandomFlows(8, 100, 200000, &random);
  FabricOptions options = Mixed({OfDevices({0, 1})}, "ack=1");
  options.link_series = true;
  const Ran mixed("mixed", t, options, flows);
  options.Ask<PacketChoices>().any_of.clear();
  options.link_series = false;
  options.Drop<PacketOptions>();
  const Ran fluid("fluid", t, options, flows);
  EXPECT_EQ(mixed.fabric->Traffic()[0].bytes, fluid.fabric->Traffic()[0].bytes);
  ExpectAllReceived(flows, mixed.ended);
  const LinkUses uses = mixed.fabric->Links(1000);
  const PacketTotals totals = mixed.fabric->Packets();
  uint64_t bytes = 0, packets = 0;
  for (const LinkUse& use : uses.busiest) {
    bytes += use.bytes;
    packets += use.packets;
    double sum = 0;
    for (const float share : use.series) sum += static_cast<double>(share);
    const double in_series =
        sum * uses.bucket.seconds() * static_cast<double>(use.bandwidth.bytes_per_second());
    EXPECT_NEAR(in_series, static_cast<double>(use.bytes), 1 + 1e-5 * static_cast<double>(use.bytes))
        << use.name;
    EXPECT_THAT(use.queued.size(), use.packets > 0 ? use.series.size() : 0u) << use.name;
  }
  EXPECT_EQ(packets, totals.hops);
  uint64_t payload = 0;
  for (const LinkUse& use : fluid.fabric->Links(1000).busiest) payload += use.bytes;
  EXPECT_GT(bytes, payload);
  EXPECT_LE(bytes, payload + totals.hops * 64);
}

// Switches run ahead in windows, and a series changes where the windows end.
TEST(MixedFabric, SeriesDoNotChangeEnds) {
  const Topology t = Leaves(32);
  std::mt19937_64 random(5);
  const auto flows = RandomFlows(32, 300, 2000000, &random);
  for (const char* transport : {"transport=window", "transport=dcqcn", "transport=swift"}) {
    FabricOptions options = Mixed({OfDevices(Range(0, 12))}, transport);
    options.changes = Faults(t);
    const Ran plain("mixed", t, options, flows);
    for (const int64_t nanos : {1000, 7300, 10000}) {
      options.Ask<PacketOptions>().series = Time::Nanos(nanos);
      ExpectSameEnds(Ran("mixed", t, options, flows).ended, plain.ended);
    }
  }
}

TEST(MixedFabric, NextEventLimitsDoNotChangeEnds) {
  const Topology t = Leaves(12);
  std::mt19937_64 random(7);
  const auto flows = RandomFlows(12, 120, 300000, &random);
  FabricOptions options = Mixed({OfDevices({0, 5}), OfLink("leaf.2 - spine.*")}, "transport=dcqcn");
  options.changes = Faults(t);
  const Ran plain("mixed", t, options, flows);
  const Ran again("mixed", t, options, flows);
  ExpectSameEnds(again.ended, plain.ended);
  auto fabric = Make("mixed", t, options);
  std::vector<FlowEnd> ended;
  size_t next = 0;
  for (;;) {
    const Time start = next < flows.size() ? flows[next].at : Time::Never();
    const Time at = std::min(start, fabric->NextEvent(start));
    if (at == Time::Never()) break;
    fabric->AdvanceTo(at, &ended);
    for (; next < flows.size() && flows[next].at == at; ++next) fabric->Start(flows[next].flow, at);
  }
  ExpectSameEnds(ended, plain.ended);
}

TEST(MixedFabric, EndsBeforeAStartAreReportedLater) {
  const Topology t = Star(4, 50, Time::Nanos(500));
  auto fabric = Make("mixed", t, Mixed({OfDevices({1})}));
  fabric->Start(Message(1, 0, 4096, 7), Time::Zero());
  fabric->Start(Message(2, 3, 4096, 8), Time::Zero());
  fabric->Start(Message(1, 0, 4096, 9), Time::Micros(50));
  EXPECT_LT(fabric->NextEvent(), Time::Micros(5));
  std::vector<FlowEnd> ended;
  fabric->AdvanceTo(Time::Micros(50), &ended);
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[0].tag, 8u);  // a fluid flow: no switch stores and forwards its packets
  EXPECT_EQ(ended[1].tag, 7u);
}

TEST(MixedFabric, EndsOfOneInstantFollowStartOrder) {
  const Topology t = Star(8, 50, Time::Nanos(500));
  std::vector<Flow> flows;
  for (int i = 0; i < 8; ++i) flows.push_back(Message(i, i, 10, 0));
  const Ran mixed("mixed", t, Mixed({OfDevices({1, 2, 6})}), AtOnce(flows));
  ASSERT_EQ(mixed.ended.size(), 8u);
  for (uint64_t i = 0; i < 8; ++i) EXPECT_EQ(mixed.ended[i].tag, i);
  EXPECT_EQ(mixed.fabric->Packets().messages, 3u);
}

TEST(MixedFabric, TimeWindowsChooseMessagesByStart) {
  const Topology t = Star(4, 50, Time::Nanos(500));
  std::vector<TimedFlow> flows;
  for (uint64_t i = 0; i < 10; ++i) flows.push_back({Message(1, 0, 100000, i), Time::Micros(10 * i)});
  const Ran mixed("mixed", t, Mixed({Within(Time::Micros(30), Time::Micros(60))}), flows);
  EXPECT_EQ(mixed.fabric->Packets().messages, 3u);
  const Ran packet("packet", t, PacketFabricOptions(""), flows), fluid("fluid", t, FabricOptions(), flows);
  for (uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(mixed.Received(i), (i >= 3 && i < 6 ? packet : fluid).Received(i)) << i;
  }
}

// Also when messages start while earlier messages of the connection are on the other side.
TEST(MixedFabric, MessagesOfAConnectionKeepTheirOrder) {
  const Topology t = Star(4, 50, Time::Nanos(500));
  std::vector<TimedFlow> flows;
  for (int i = 0; i < 40; ++i) {
    Flow f = Message(1, 0, i % 3 == 0 ? 1000 : 200000, 5);
    f.in_order = true;
    f.want_sent = i % 2 == 0;
    flows.push_back({f, Time::Micros(i < 20 ? i : 200 + i)});
  }
  const Ran mixed("mixed", t, Mixed({Within(Time::Micros(10), Time::Micros(900))}), flows);
  EXPECT_EQ(mixed.ended.size(), 60u);
  // Messages before 20 us follow the first message, which was fluid.
  EXPECT_EQ(mixed.fabric->Packets().fluid_messages, 20u);
  EXPECT_EQ(mixed.fabric->Packets().messages, 20u);
}

TEST(MixedFabric, FaultsAffectBothSides) {
  const Topology t = Leaves(12);
  std::mt19937_64 random(8);
  const auto flows = RandomFlows(12, 200, 400000, &random);
  FabricOptions options = Mixed({OfDevices({0, 1, 2, 3})});
  options.changes = Faults(t);
  const Ran mixed("mixed", t, options, flows);
  ExpectAllReceived(flows, mixed.ended);
  // A device without its link: both sides wait forever, and WhyStuck() gives the cause.
  FabricOptions cut = Mixed({OfDevices({1})});
  for (const char* to : {"device.0", "leaf.0"}) {
    cut.changes.push_back({Time::Micros(1), LinkOf(t, to, to[0] == 'd' ? "leaf.0" : "device.0"), 0});
  }
  const Ran stuck("mixed", t, cut,
                  AtOnce({Message(1, 0, 1000000, 0), Message(2, 0, 1000000, 1), Message(2, 1, 1000, 2)}));
  EXPECT_EQ(stuck.ended.size(), 1u);
  EXPECT_THAT(stuck.fabric->WhyStuck(), HasSubstr("0"));
}

TEST(MixedFabric, CostMatchesTheChosenSide) {
  const Topology t = Star(4, 50, Time::Nanos(500));
  const auto mixed = Make("mixed", t, Mixed({OfDevices({1})}));
  const auto packet = Make("packet", t, PacketFabricOptions("")), fluid = Make("fluid", t, FabricOptions());
  EXPECT_EQ(mixed->Cost(1, 0, 50000).received(), packet->Cost(1, 0, 50000).received());
  EXPECT_EQ(mixed->Cost(2, 0, 50000).received(), fluid->Cost(2, 0, 50000).received());
  EXPECT_NE(mixed->Cost(2, 0, 50000).received(), mixed->Cost(1, 0, 50000).received());
  EXPECT_FALSE(mixed->contention_free());
}

// Dimensions without a network, and operations inside a switch.
TEST(MixedFabric, RunsOnManyDimensionsAndSwitches) {
  const Topology t = MakeTopology({MakeDim(TopologyDimension::Kind::kSwitch, 4, 400, 25),
                                   MakeDim(TopologyDimension::Kind::kRing, 4),
                                   MakeDim(TopologyDimension::Kind::kFullyConnected, 2)});
  std::mt19937_64 random(9);
  std::vector<TimedFlow> flows = RandomFlows(32, 150, 200000, &random);
  const int hub = t.SwitchBetween(0, 1);
  ASSERT_GE(hub, 32);
  flows.push_back({Message(0, hub, 100000, 1000), flows.back().at});
  flows.push_back({Message(hub, 1, 100000, 1001), flows.back().at});
  const Ran mixed("mixed", t, Mixed({OfLink("device 0 - switch"), OfDevices({17})}), flows);
  ExpectAllReceived(flows, mixed.ended);
  EXPECT_GT(mixed.fabric->Packets().messages, 10u);
  EXPECT_GT(mixed.fabric->Packets().fluid_messages, 10u);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
