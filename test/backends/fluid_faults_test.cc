// `fluid` on networks: links that change, flows that are split, and the report of the links.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "backends/fluid/options.h"
#include "backends/registry.h"
#include "test/backends/fabric_testing.h"
#include "test/backends/network_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

Topology OnNetwork(const std::string& spec, int devices) {
  TopologyDimension d;
  d.kind = TopologyDimension::Kind::kNetwork;
  d.name = "net";
  d.network = std::make_shared<const Network>(MakeNetwork(spec, devices));
  d.size = static_cast<int>(d.network->graph.devices());
  return *Topology::Make({d});
}

// Leaves of 2 devices, and 2 spines; each link carries 0.1 bytes a picosecond.
const char kSmall[] = "leaf_spine:k=4,link=100GB/s,uplink=100GB/s,latency=0ns,uplink_latency=0ns";

uint32_t LinkOf(const Topology& t, const std::string& from, const std::string& to) {
  const NetworkGraph& g = t.dimensions()[0].network->graph;
  return t.NetworkHop(0, 0, g.FindArc(*g.FindVertex(from), *g.FindVertex(to))).link;
}

// When 100,000 bytes from device 0 arrive at device 2; -1 ps: never. They take a microsecond without faults.
Time Arrival(const Topology& t, std::vector<LinkChange> changes,
             RoutingPolicy policy = RoutingPolicy::kEcmp) {
  FabricOptions options;
  options.changes = std::move(changes);
  options.routing.policy = policy;
  auto fabric = MakeMachine("fluid", t, options);
  EXPECT_TRUE(fabric.ok()) << fabric.status();
  return ReceivedAt(Drive(fabric->get(), {{Message(0, 2, 100000, 0), Time::Zero()}}), 0);
}

// Two flows of 100,000 bytes from leaf 0 to leaf 1 take different spines; each needs a microsecond by itself.
TEST(FluidFaults, FlowsReturnToRestoredLinks) {
  const Topology t = OnNetwork(kSmall, 4);
  FabricOptions options;
  uint64_t seed = 0;
  const auto last = [&](std::vector<LinkChange> changes) {
    options.changes = std::move(changes);
    auto fabric = MakeMachine("fluid", t, options);
    EXPECT_TRUE(fabric.ok()) << fabric.status();
    const auto ends = Drive(
        fabric->get(), {{Message(0, 2, 100000, 0), Time::Zero()}, {Message(1, 3, 100000, 1), Time::Zero()}});
    return std::max(ReceivedAt(ends, 0), ReceivedAt(ends, 1));
  };
  const Time us = Time::Micros(1);
  do {
    options.routing.seed = ++seed;
  } while (last({}) != us);
  const uint32_t a = LinkOf(t, "leaf.0", "spine.0");
  // During the 0.2 us of the fault both flows share the other spine; each loses half of that time.
  EXPECT_EQ(last({{Time::Nanos(400), a, 0}, {Time::Nanos(600), a, 1}}), us + Time::Nanos(100));
  EXPECT_EQ(last({{Time::Zero(), a, 0}, {Time::Nanos(600), a, 1}}), us + Time::Nanos(300));
  EXPECT_EQ(last({{Time::Nanos(400), a, 0}}), us + Time::Nanos(600));
}

TEST(FluidFaults, FlowsRerouteOrWait) {
  const Topology t = OnNetwork(kSmall, 4);
  const Time us = Time::Micros(1);
  EXPECT_EQ(Arrival(t, {}), us);
  const uint32_t a = LinkOf(t, "leaf.0", "spine.0"), b = LinkOf(t, "leaf.0", "spine.1");
  // Whichever uplink the flow takes, the other one is free.
  EXPECT_EQ(Arrival(t, {{Time::Nanos(400), a, 0}}), us);
  EXPECT_EQ(Arrival(t, {{Time::Nanos(400), b, 0}}), us);
  EXPECT_EQ(Arrival(t, {{Time::Nanos(400), a, 0}, {Time::Nanos(400), b, 0}, {Time::Nanos(900), b, 1}}),
            us + Time::Nanos(500));
  EXPECT_EQ(Arrival(t, {{Time::Zero(), a, 0}, {Time::Zero(), b, 0}, {Time::Nanos(900), a, 1}}),
            us + Time::Nanos(900));
  EXPECT_EQ(Arrival(t, {{Time::Nanos(400), a, 0}, {Time::Nanos(400), b, 0}}), Time::Picos(-1));
  // Faults of the other direction do not affect the flow.
  EXPECT_EQ(Arrival(t, {{Time::Nanos(400), LinkOf(t, "spine.0", "leaf.0"), 0},
                        {Time::Nanos(400), LinkOf(t, "spine.1", "leaf.0"), 0}}),
            us);
}

TEST(FluidFaults, DegradedLinksSlowFlows) {
  const Topology t = OnNetwork(kSmall, 4);
  const uint32_t host = LinkOf(t, "device.0", "leaf.0");
  // 0.4 us at the full rate; the remaining 0.6 us take twice as long at half the rate.
  EXPECT_EQ(Arrival(t, {{Time::Nanos(400), host, 0.5}}), Time::Nanos(1600));
  EXPECT_EQ(Arrival(t, {{Time::Nanos(400), host, 0.5}, {Time::Nanos(800), host, 1}}), Time::Nanos(1200));
  EXPECT_EQ(Arrival(t, {{Time::Zero(), host, 0.8}}), Time::Nanos(1250));
  // A fault after the end changes nothing.
  EXPECT_EQ(Arrival(t, {{Time::Nanos(2000), host, 0}}), Time::Nanos(1000));
}

TEST(FluidFaults, SprayedFlowsFollowTheirSlowestPath) {
  const Topology t = OnNetwork(kSmall, 4);
  EXPECT_EQ(Arrival(t, {}, RoutingPolicy::kSpray), Time::Micros(1));
  const uint32_t a = LinkOf(t, "leaf.0", "spine.0");
  // Half of the bytes go over a link with a quarter of its rate, so the flow has half its rate.
  EXPECT_EQ(Arrival(t, {{Time::Zero(), a, 0.25}}, RoutingPolicy::kSpray), Time::Micros(2));
  EXPECT_EQ(Arrival(t, {{Time::Nanos(400), a, 0}}, RoutingPolicy::kSpray), Time::Micros(1));
  // Two sprayed flows of one leaf fill both uplinks. On one uplink they would need twice as long.
  FabricOptions options;
  options.routing.policy = RoutingPolicy::kSpray;
  auto fabric = *MakeMachine("fluid", t, options);
  const auto ended = Drive(
      fabric.get(), {{Message(0, 2, 100000, 0), Time::Zero()}, {Message(1, 3, 100000, 1), Time::Zero()}});
  EXPECT_EQ(ReceivedAt(ended, 0), Time::Micros(1));
  EXPECT_EQ(ReceivedAt(ended, 1), Time::Micros(1));
}

TEST(FluidFaults, LinksReportBytesFlowsAndSeries) {
  const Topology t = OnNetwork(kSmall, 4);
  FabricOptions options;
  options.link_series = true;
  auto fabric = *MakeMachine("fluid", t, options);
  // An incast on device 3: its link is full for 3 us; each sender uses a third of its own link.
  std::vector<TimedFlow> flows;
  for (int i = 0; i < 3; ++i)
    flows.push_back({Message(i, 3, 100000, static_cast<uint64_t>(i)), Time::Zero()});
  const auto ended = Drive(fabric.get(), flows);
  EXPECT_EQ(ended.back().at, Time::Micros(3));
  const LinkUses uses = fabric->Links(100);
  ASSERT_FALSE(uses.busiest.empty());
  EXPECT_EQ(uses.links, uses.busiest.size());
  const LinkUse& down = uses.busiest.front();
  EXPECT_EQ(down.name, "leaf.1 - device.3 of net");
  EXPECT_EQ(down.bytes, 300000u);
  EXPECT_EQ(down.flows, 3u);
  EXPECT_NEAR(down.peak, 1, 1e-12);
  for (const LinkUse& use : uses.busiest) {
    double bytes = 0;
    for (const float share : use.series) {
      bytes += share * static_cast<double>(uses.bucket.picos()) * 0.1;
      EXPECT_LE(share, 1 + 1e-6);
    }
    EXPECT_NEAR(bytes, static_cast<double>(use.bytes), 1e-4 * static_cast<double>(use.bytes)) << use.name;
  }
  EXPECT_EQ(fabric->Links(2).busiest.size(), 2u);
}

// A rerouted flow counts once on each link, both where it stays on the link and where it returns to the link.
TEST(FluidFaults, LinksCountReroutedFlowsOnce) {
  const Topology t = OnNetwork(kSmall, 4);
  const uint32_t up[] = {LinkOf(t, "leaf.0", "spine.0"), LinkOf(t, "leaf.0", "spine.1")};
  FabricOptions options;
  for (int i = 0; i < 4; ++i) {
    options.changes.push_back({Time::Nanos(200 * i + 100), up[i % 2], 0});
    options.changes.push_back({Time::Nanos(200 * i + 100), up[(i + 1) % 2], 1});
  }
  auto fabric = *MakeMachine("fluid", t, options);
  const auto ended = Drive(
      fabric.get(), {{Message(0, 2, 100000, 0), Time::Zero()}, {Message(0, 2, 100000, 1), Time::Micros(20)}});
  EXPECT_EQ(ReceivedAt(ended, 0), Time::Micros(1));
  uint64_t bytes = 0;
  const LinkUses uses = fabric->Links(100);
  EXPECT_EQ(uses.links, 6u);  // the links of both devices, and up and down over each spine
  for (const LinkUse& use : uses.busiest) {
    const bool end = use.name == "device.0 - leaf.0 of net" || use.name == "leaf.1 - device.2 of net";
    // The second message takes only one of the spines.
    EXPECT_LE(use.flows, 2u) << use.name;
    EXPECT_GE(use.flows, end ? 2u : 1u) << use.name;
    bytes += use.bytes;
  }
  EXPECT_EQ(bytes, 800000u);
}

// In a long run the buckets widen, and no bytes are lost.
TEST(FluidFaults, SeriesStayBoundedInLongRuns) {
  const Topology t = OnNetwork(kSmall, 4);
  FabricOptions options;
  options.link_series = true;
  auto fabric = *MakeMachine("fluid", t, options);
  std::vector<TimedFlow> flows;
  for (int i = 0; i < 500; ++i) {
    flows.push_back({Message(0, 2, 100000, static_cast<uint64_t>(i)), Time::Micros(2) * i});
  }
  Drive(fabric.get(), flows);
  const LinkUses uses = fabric->Links(1);
  EXPECT_LE(uses.busiest[0].series.size(), 128u);
  double bytes = 0;
  for (const float share : uses.busiest[0].series)
    bytes += share * static_cast<double>(uses.bucket.picos()) * 0.1;
  EXPECT_NEAR(bytes, 5e7, 1e3);
}

// A flow that shares no link takes the time that `analytical` gives, on every network and with every policy.
TEST(FluidFaults, IsolatedFlowMatchesAnalytical) {
  for (const char* spec : {"fat_tree:k=4", "torus:shape=4x4", "dragonfly:p=2,a=4,h=2"}) {
    const Topology t = OnNetwork(spec, 0);
    for (const char* policy : {"ecmp", "spray", "flowlet", "valiant"}) {
      FabricOptions options;
      options.routing.policy = *ParseRoutingPolicy(policy);
      auto fluid = *MakeMachine("fluid", t, options), analytical = *MakeMachine("analytical", t, options);
      for (int i = 0; i < 50; ++i) {
        const int src = i * 7 % t.devices(), dst = (i * 13 + 5) % t.devices();
        const uint64_t bytes = 1 + static_cast<uint64_t>(i) * 99991;
        std::vector<FlowEnd> a, b;
        const Time now = Time::Micros(10000) * (i + 1);
        fluid->Start(Message(src, dst, bytes, 0), now);
        analytical->Start(Message(src, dst, bytes, 0), now);
        fluid->AdvanceTo(now + Time::Micros(9999), &a);
        analytical->AdvanceTo(now + Time::Micros(9999), &b);
        ASSERT_EQ(a.size(), 1u);
        EXPECT_EQ(a[0].at, b[0].at) << spec << " " << policy << " " << src << " " << dst;
        EXPECT_EQ(now + fluid->Cost(src, dst, bytes).received(), b[0].at);
      }
    }
  }
}

// Messages that waited for a dead link leave one after another.
TEST(FluidFaults, MessagesOfAConnectionKeepTheirOrder) {
  const Topology t = OnNetwork(kSmall, 4);
  FabricOptions options;
  const uint32_t host = LinkOf(t, "device.0", "leaf.0");
  options.changes = {{Time::Zero(), host, 0}, {Time::Micros(10), host, 1}};
  auto fabric = *MakeMachine("fluid", t, options);
  std::vector<TimedFlow> flows;
  for (int i = 0; i < 4; ++i) {
    flows.push_back({Message(0, 2, 100000, 9), Time::Micros(i)});
    flows.back().flow.in_order = true;
  }
  const auto ended = Drive(fabric.get(), flows);
  ASSERT_EQ(ended.size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(ended[static_cast<size_t>(i)].at, Time::Micros(11 + i));
}

// A fault at the end of a flow has no effect. A fault at the start applies before the flow starts.
TEST(FluidFaults, FaultsAtStartAndEndOfAFlow) {
  const Topology t = OnNetwork(kSmall, 4);
  const uint32_t host = LinkOf(t, "device.0", "leaf.0");
  EXPECT_EQ(Arrival(t, {{Time::Micros(1), host, 0}}), Time::Micros(1));
  FabricOptions options;
  options.changes = {{Time::Zero(), host, 0}, {Time::Micros(3), host, 1}};
  auto fabric = *MakeMachine("fluid", t, options);
  fabric->Start(Message(0, 2, 0, 0), Time::Zero());
  std::vector<FlowEnd> ended;
  while (fabric->NextEvent() != Time::Never()) fabric->AdvanceTo(fabric->NextEvent(), &ended);
  EXPECT_EQ(ReceivedAt(ended, 0), Time::Micros(3));
}

// Each message pays its own start-up, also when it waits for the message before it.
TEST(FluidFaults, EachInOrderMessagePaysStartup) {
  const Topology t = OnNetwork(kSmall, 4);
  FabricOptions options;
  options.Ask<FlowOptions>().startup = Time::Micros(10);
  auto fabric = *MakeMachine("fluid", t, options);
  std::vector<TimedFlow> flows = {{Message(0, 2, 100000, 9), Time::Zero()},
                                  {Message(0, 2, 100000, 9), Time::Picos(10999000)},
                                  {Message(0, 2, 100000, 9), Time::Nanos(11000)}};
  for (TimedFlow& f : flows) f.flow.in_order = true;
  const auto ended = Drive(fabric.get(), flows);
  ASSERT_EQ(ended.size(), 3u);
  EXPECT_EQ(ended[0].at, Time::Micros(11));
  EXPECT_EQ(ended[1].at, Time::Picos(21999000));
  EXPECT_EQ(ended[2].at, Time::Picos(22999000));
}

TEST(FluidFaults, AnalyticalFabricsRefuseFaults) {
  const Topology t = OnNetwork(kSmall, 4);
  FabricOptions options;
  options.changes = {{Time::Zero(), 0, 0}};
  for (const char* fabric : {"analytical", "analytical-fifo"}) {
    EXPECT_NE(std::string(MakeMachine(fabric, t, options).status().message()).find("are for fluid"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
