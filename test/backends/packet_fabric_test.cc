// Fabric `packet` as the replay engine uses it: flows and their options, and links that change.
#include "backends/packet/packet_fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "backends/fluid/options.h"
#include "test/backends/packet_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kMtu = 4086;
constexpr int64_t kPacket = 332000;  // ps of 4,150 bytes at 12.5 GB/s
const char kPackets[] = "mtu=4086,header=64,ack=64,transport=(window:bytes=1GB)";

std::vector<std::tuple<Time, uint64_t, int>> EndsOf(const std::vector<FlowEnd>& ended) {
  std::vector<std::tuple<Time, uint64_t, int>> out;
  for (const FlowEnd& e : ended) out.emplace_back(e.at, e.tag, e.kind);
  return out;
}

TEST(PacketFabric, ReportsSentReceivedAndDelay) {
  const Topology t = Line({12.5, 12.5}, Time::Micros(1));
  Flow f = Message(0, 1, 10 * kMtu, 1);
  f.want_sent = true;
  f.delay = Time::Nanos(123);
  Flow nothing = Message(1, 1, 5000, 2);  // to itself
  nothing.want_sent = true;
  nothing.delay = Time::Micros(3);
  Flow empty = Message(1, 0, 0, 3);
  empty.want_sent = true;
  const std::vector<TimedFlow> flows = {
      {f, Time::Zero()}, {nothing, Time::Nanos(100)}, {empty, Time::Nanos(100)}};
  const PacketRun run(t, PacketFabricOptions(kPackets), flows);
  ExpectAllReceived(flows, run.ended);
  // The acknowledgement of the empty message goes first: 5.12 ns.
  EXPECT_EQ(run.Sent(1), Time::Picos(10 * kPacket + 5120));
  EXPECT_EQ(run.Received(1), Time::Picos(2000000 + 11 * kPacket + 5120 + 123000));
  EXPECT_EQ(run.Sent(2), Time::Nanos(100));
  EXPECT_EQ(run.Received(2), Time::Nanos(3100));
  EXPECT_EQ(run.Sent(3), Time::Picos(100000 + 5120));
  // The empty message is one header. No acknowledgement delays it: the first one leaves only when a packet
  // has arrived.
  EXPECT_EQ(run.Received(3), Time::Picos(100000 + 2000000 + 2 * 5120));
}

TEST(PacketFabric, InOrderFlowsShareAConnection) {
  const Topology t = Line({12.5, 12.5}, Time::Micros(1));
  const auto received = [&](bool in_order) {
    std::vector<TimedFlow> flows;
    for (int i = 0; i < 3; ++i) {
      Flow f = Message(0, 1, (i == 0 ? 50 : 1) * kMtu, 5);
      f.in_order = in_order;
      flows.push_back({f, Time::Zero()});
    }
    const PacketRun run(t, PacketFabricOptions(kPackets), flows);
    std::vector<Time> at;
    for (const FlowEnd& e : run.ended) at.push_back(e.at);
    return at;
  };
  const Time first = Time::Picos(2000000 + 51 * kPacket), packet = Time::Picos(kPacket);
  EXPECT_EQ(received(true), (std::vector<Time>{first, first + packet, first + packet * 2}));
  // Otherwise the packets of the short messages take turns with those of the long one.
  const std::vector<Time> apart = received(false);
  ASSERT_EQ(apart.size(), 3u);
  EXPECT_LT(apart[1], Time::Picos(2000000 + 6 * kPacket));
  EXPECT_EQ(apart[2], first + packet * 2);
}

TEST(PacketFabric, ReusesAndForgetsConnections) {
  // Messages of one tag, some long after each other, with messages of other tags in between.
  const Topology t = Star(4, 12.5, Time::Nanos(100));
  std::vector<TimedFlow> flows;
  for (int i = 0; i < 300; ++i) {
    Flow f = Message(i % 3, 3, static_cast<uint64_t>(i % 7) * 3000, static_cast<uint64_t>(i % 3));
    f.in_order = true;
    flows.push_back({f, Time::Nanos(i * (i % 50 < 25 ? 150 : 2500))});
  }
  std::sort(flows.begin(), flows.end(), [](const TimedFlow& a, const TimedFlow& b) { return a.at < b.at; });
  const PacketRun run(t, PacketFabricOptions("mtu=1024"), flows);
  ExpectAllReceived(flows, run.ended);
  EXPECT_EQ(run.ended.size(), 300u);
}

// Each collective numbers its pairs from the beginning. Two other devices may use a tag while the last
// acknowledgement of its previous pair is in flight.
TEST(PacketFabric, SameTagOfAnotherPairOpensAConnection) {
  PacketFabric fabric(Star({12.5, 12.5, 2.5, 12.5}, Time::Micros(1)), PacketFabricOptions(""));
  Flow f = Message(0, 1, 40960, 7);
  f.in_order = true;
  fabric.Start(f, Time::Zero());
  std::vector<FlowEnd> ended;
  const Time first = fabric.NextEvent(Time::Never());
  fabric.AdvanceTo(first, &ended);
  ASSERT_EQ(ended.size(), 1u);
  f.src = 2;
  f.dst = 3;
  fabric.Start(f, first);
  const Time second = fabric.NextEvent(Time::Never());
  EXPECT_EQ((second - first).picos(), fabric.Cost(2, 3, 40960).received().picos());
}

TEST(PacketFabric, LinksCarryWireBytes) {
  const Topology t = Line({12.5, 12.5}, Time::Micros(1));
  Flow f = Message(0, 1, 100, 1);
  f.wire_bytes = 10 * kMtu;
  const PacketRun run(t, PacketFabricOptions(kPackets), {{f, Time::Zero()}});
  EXPECT_EQ(run.Received(1), Time::Picos(2000000 + 11 * kPacket));
  EXPECT_EQ(run.fabric->Traffic()[0].bytes, 100u * 2);
}

TEST(PacketFabric, FlowsOfOneInstantFollowStartOrder) {
  const Topology t = Star(3, 12.5, Time::Micros(1));
  for (const bool swapped : {false, true}) {
    std::vector<TimedFlow> flows = {{Message(0, 1, kMtu, 0), Time::Zero()},
                                    {Message(0, 2, kMtu, 1), Time::Zero()}};
    if (swapped) std::swap(flows[0], flows[1]);
    const PacketRun run(t, PacketFabricOptions(kPackets), flows);
    ASSERT_EQ(run.ended.size(), 2u);
    EXPECT_EQ(run.ended[0].tag, swapped ? 1u : 0u);
    EXPECT_EQ(run.ended[1].at - run.ended[0].at, Time::Picos(kPacket));
  }
  // Ends at the same instant also follow the order of start.
  const PacketRun same(t, PacketFabricOptions(kPackets),
                       {{Message(0, 1, kMtu, 8), Time::Zero()}, {Message(1, 2, kMtu, 3), Time::Zero()}});
  ASSERT_EQ(same.ended.size(), 2u);
  EXPECT_EQ(same.ended[0].tag, 8u);
  EXPECT_EQ(same.ended[0].at, same.ended[1].at);
}

TEST(PacketFabric, StepSizesDoNotChangeEnds) {
  std::mt19937_64 random(11);
  const Topology t = OfNetwork("leaf_spine:k=8,link=12.5GB/s,uplink=12.5GB/s", 16);
  for (const char* text : {"buffer=200KB,flow_control=pfc,transport=dcqcn,ecn_low=40KB,ecn_high=100KB",
                           "queue=60KB,transport=nscc", "queue=40KB,timeout=100us"}) {
    const FabricOptions o = PacketFabricOptions(text);
    std::vector<TimedFlow> flows = RandomFlows(16, 60, 100000, &random);
    for (TimedFlow& f : flows) f.at = Time::Zero();
    const PacketRun run(t, o, flows), again(t, o, flows);
    ExpectAllReceived(flows, run.ended);
    EXPECT_EQ(EndsOf(run.ended), EndsOf(again.ended)) << text;
    EXPECT_EQ(run.counters().events, again.counters().events);
    // In one step, in steps of 7 us, and from one reported event to the next as the engine does.
    for (const int way : {0, 1, 2}) {
      auto made = MakeFabric("packet", t, o);
      ASSERT_TRUE(made.ok());
      std::vector<FlowEnd> ended;
      for (const TimedFlow& f : flows) (*made)->Start(f.flow, f.at);
      if (way == 0) (*made)->AdvanceTo(Time::Micros(1000000), &ended);
      for (int i = 0; way == 1 && i < 10000; ++i) (*made)->AdvanceTo(Time::Micros(7) * i, &ended);
      while (way == 2) {
        const Time at = (*made)->NextEvent(Time::Never());
        if (at == Time::Never()) break;
        const size_t before = ended.size();
        (*made)->AdvanceTo(at, &ended);
        EXPECT_GT(ended.size(), before);  // each instant reports at least one end
        if (ended.size() == before) break;
      }
      EXPECT_EQ(EndsOf(ended), EndsOf(run.ended)) << text << " " << way;
    }
  }
}

// Leaves of 2 devices, and 2 spines.
Topology Small() {
  return OfNetwork("leaf_spine:k=4,link=12.5GB/s,uplink=12.5GB/s,latency=500ns,uplink_latency=500ns", 4);
}

PacketRun WithChanges(const Topology& t, const std::string& text, std::vector<LinkChange> changes) {
  FabricOptions o = PacketFabricOptions(text);
  o.changes = std::move(changes);
  PacketRun run(t, o, {{Message(0, 2, 100 * kMtu, 0), Time::Zero()}});
  if (run.ended.size() == 1) ExpectQuiet(*run.fabric, o);
  return run;
}

TEST(PacketFabric, FlowsRerouteOrWait) {
  const Topology t = Small();
  const uint32_t a = LinkOf(t, "leaf.0", "spine.0"), b = LinkOf(t, "leaf.0", "spine.1");
  const Time cut = Time::Micros(10), back = Time::Micros(40);
  for (const char* more : {"", ",recovery=selective", ",buffer=1MB,flow_control=pfc", ",flow_control=credit",
                           ",transport=dcqcn,buffer=1MB,flow_control=pfc"}) {
    const std::string text = absl::StrCat("mtu=4086,header=64,timeout=20us", more);
    const Time free = WithChanges(t, text, {}).Received(0);
    // Whichever uplink the flow takes, the other one is free. Lost packets are sent again.
    for (const uint32_t link : {a, b}) {
      const PacketRun run = WithChanges(t, text, {{cut, link, 0}});
      EXPECT_GE(run.Received(0), free) << text;
      EXPECT_LE(run.Received(0), free + Time::Micros(60)) << text;
    }
    // Both uplinks fail, and one returns.
    const PacketRun waits = WithChanges(t, text, {{cut, a, 0}, {cut, b, 0}, {back, b, 1}});
    EXPECT_GE(waits.Received(0), free + back - cut) << text;
    EXPECT_LE(waits.Received(0), free + back - cut + Time::Micros(60)) << text;
    EXPECT_GT(waits.counters().drops, 0u) << text;
    // Both fail from the start; then both fail forever.
    const PacketRun late = WithChanges(t, text, {{Time::Zero(), a, 0}, {Time::Zero(), b, 0}, {back, a, 1}});
    EXPECT_EQ(late.Received(0), free + back) << text;
    const PacketRun never = WithChanges(t, text, {{cut, a, 0}, {cut, b, 0}});
    EXPECT_EQ(never.ended.size(), 0u) << text;
    EXPECT_THAT(never.fabric->WhyStuck(), HasSubstr("no path, the first from device 0 to 2")) << text;
    // Acknowledgements are rerouted too.
    for (const char* spine : {"spine.0", "spine.1"}) {
      const PacketRun acks = WithChanges(t, text, {{cut, LinkOf(t, "leaf.1", spine), 0}});
      EXPECT_GE(acks.Received(0), free) << text;
      EXPECT_LE(acks.Received(0), free + Time::Micros(60)) << text;
    }
  }
}

TEST(PacketFabric, CutOffHostsRecover) {
  // The link of the host fails several times. The network is one switch, so there is no other path.
  const Topology t = Star(3, 12.5, Time::Nanos(500));
  for (const char* more :
       {"", ",recovery=selective", ",buffer=1MB,flow_control=pfc", ",flow_control=credit"}) {
    FabricOptions o = PacketFabricOptions(absl::StrCat("mtu=4086,header=64,timeout=10us", more));
    for (int i = 0; i < 10; ++i) {
      const char* const ends[] = {"device.0", "switch"};
      const uint32_t link = LinkOf(t, ends[i % 2], ends[1 - i % 2]);
      o.changes.push_back({Time::Nanos(1000 + 9000 * i), link, 0});
      o.changes.push_back({Time::Nanos(2500 + 9000 * i), link, 1});
    }
    const std::vector<TimedFlow> flows =
        AtOnce({Message(0, 1, 150 * kMtu, 0), Message(2, 0, 150 * kMtu, 0), Message(1, 2, 150 * kMtu, 0)});
    const PacketRun run(t, o, flows);
    ExpectAllReceived(flows, run.ended);
    ExpectQuiet(*run.fabric, o);
    EXPECT_GT(run.counters().drops, 0u) << more;
    EXPECT_LT(run.End(), Time::Micros(2000)) << more;
  }
}

TEST(PacketFabric, DegradedLinksSlowFlows) {
  const Topology t = Small();
  const uint32_t host = LinkOf(t, "device.0", "leaf.0");
  const auto received = [&](std::vector<LinkChange> changes) {
    return WithChanges(t, kPackets, std::move(changes)).Received(0);
  };
  const Time free = received({});
  // From the start: each packet takes twice as long on its first link.
  EXPECT_EQ(received({{Time::Zero(), host, 0.5}}), free + Time::Picos(100 * kPacket));
  // From the middle on, 50 packets take twice as long; then 20 packets, until the link recovers.
  EXPECT_EQ(received({{Time::Picos(50 * kPacket), host, 0.5}}), free + Time::Picos(50 * kPacket));
  EXPECT_EQ(received({{Time::Picos(50 * kPacket), host, 0.5}, {Time::Picos(90 * kPacket), host, 1}}),
            free + Time::Picos(20 * kPacket));
  EXPECT_EQ(received({{Time::Micros(500), host, 0.1}}), free);
}

// The last end of `flows`, over the last end on fabric `fluid` with an efficiency that counts the headers.
double OverFluid(const Topology& t, const std::vector<TimedFlow>& flows, const char* more = "") {
  FabricOptions o = PacketFabricOptions(absl::StrCat("mtu=4086,header=64", more));
  const PacketRun run(t, o, flows);
  ExpectAllReceived(flows, run.ended);
  FabricOptions fluid;
  fluid.Ask<FlowOptions>().efficiency = 4086.0 / 4150;
  auto made = MakeFabric("fluid", t, fluid);
  EXPECT_TRUE(made.ok()) << made.status();
  Time end;
  for (const FlowEnd& e : Drive(made->get(), flows)) end = std::max(end, e.at);
  return static_cast<double>(run.End().picos()) / static_cast<double>(end.picos());
}

TEST(PacketFabric, LargeMessagesMatchFluid) {
  const Topology star = Star(8, 12.5, Time::Nanos(500));
  const Topology leaves =
      OfNetwork("leaf_spine:k=8,link=12.5GB/s,uplink=12.5GB/s,latency=500ns,uplink_latency=500ns", 16);
  std::vector<Flow> all_to_all, shifted, reversed;
  for (int i = 0; i < 8; ++i) {
    for (int j = 1; j < 8; ++j) all_to_all.push_back(Message(i, (i + j) % 8, 200 * kMtu, 0));
  }
  for (int i = 0; i < 16; ++i) {
    shifted.push_back(Message(i, (i + 5) % 16, 600 * kMtu, 0));
    reversed.push_back(Message(i, 15 - i, 600 * kMtu, 0));
  }
  EXPECT_NEAR(OverFluid(star, Incast(7, 300 * kMtu)), 1, 0.03);
  EXPECT_NEAR(OverFluid(star, AtOnce(all_to_all)), 1, 0.03);
  EXPECT_NEAR(OverFluid(leaves, Incast(15, 150 * kMtu)), 1, 0.03);
  EXPECT_NEAR(OverFluid(leaves, AtOnce(shifted)), 1, 0.03);
  EXPECT_NEAR(OverFluid(leaves, AtOnce(reversed)), 1, 0.03);
  EXPECT_NEAR(OverFluid(star, Incast(7, 300 * kMtu), ",buffer=1MB,flow_control=pfc"), 1, 0.03);
  EXPECT_NEAR(OverFluid(leaves, AtOnce(reversed), ",flow_control=credit"), 1, 0.03);
}

TEST(PacketFabric, SprayedMessagesUseAllPlanes) {
  // Four planes, each with a quarter of a device's rate. A connection uses one plane; sprayed packets use
  // all.
  const Topology t = OfNetwork("multi_plane:planes=4,of=(leaf_spine:k=8,link=50GB/s,uplink=50GB/s)", 16);
  const auto end = [&](const char* more, int paths) {
    const PacketRun run(t, PacketFabricOptions(absl::StrCat("mtu=4086,header=64,", more, ",paths=", paths)),
                        {{Message(0, 9, 2000 * kMtu, 0), Time::Zero()}});
    EXPECT_EQ(run.ended.size(), 1u);
    return static_cast<double>(run.End().picos()) / (2000 * kPacket);
  };
  EXPECT_NEAR(end("transport=(window:bytes=4MB)", 1), 1, 0.05);
  EXPECT_NEAR(end("transport=(window:bytes=4MB),spread=packet", 256), 0.25, 0.06);
}

TEST(PacketFabric, SwitchesAreEndPoints) {
  const Topology t = MakeTopology({MakeDim(TopologyDimension::Kind::kSwitch, 4, 12.5, 500)});
  const int sw = t.SwitchBetween(0, 3);
  ASSERT_GE(sw, 4);
  std::vector<Flow> flows = {Message(0, sw, 10 * kMtu, 0), Message(sw, 2, 10 * kMtu, 0)};
  const PacketRun run(t, PacketFabricOptions(kPackets), AtOnce(flows));
  // One link for each flow: 500 ns and ten packets.
  EXPECT_EQ(run.Received(0), Time::Picos(500000 + 10 * kPacket));
  EXPECT_EQ(run.Received(1), Time::Picos(500000 + 10 * kPacket));
  EXPECT_EQ(run.fabric->Cost(0, sw, 10 * kMtu).received(), run.Received(0));
  EXPECT_EQ(run.fabric->Cost(sw, 2, 10 * kMtu).received(), run.Received(1));
  for (const char* more : {",buffer=1MB,flow_control=pfc", ",flow_control=credit", ",queue=50KB"}) {
    const FabricOptions o = PacketFabricOptions(absl::StrCat(kPackets, more));
    const PacketRun with(t, o, AtOnce(flows));
    EXPECT_EQ(with.Received(0), run.Received(0)) << more;
    ExpectQuiet(*with.fabric, o);
  }
}

TEST(PacketFabric, BufferMustHoldHeadroomOfAllPorts) {
  const Topology t = Star(9, 12.5, Time::Nanos(500));
  const auto error = [&](const std::string& text) {
    const auto made = MakeFabric("packet", t, PacketFabricOptions(text));
    return made.ok() ? "" : std::string(made.status().message());
  };
  // Nine links with 20,864 bytes of headroom each, and two packets.
  const std::string pfc = "mtu=4086,header=64,flow_control=pfc,buffer=";
  EXPECT_EQ(error(pfc + "196076B"), "");
  EXPECT_THAT(error(pfc + "196075B"), HasSubstr("expected at least 196076B"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
