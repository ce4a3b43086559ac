// Fabric `packet` on links that lose packets by chance: the number of lost packets, their draw, and the
// recovery.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "test/backends/packet_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kMtu = 4096, kHeader = 64, kAck = 64;
constexpr double kRate = 0.05;                        // bytes a picosecond
constexpr double kPacket = (kMtu + kHeader) / kRate;  // ps on the link: 83.2 ns
constexpr Time kLatency = Time::Nanos(500);
constexpr uint64_t kWindow = 32;  // packets; 14 keep the link busy
constexpr Time kTimeout = Time::Micros(20);

Topology OneLink() { return Line({50}, kLatency); }

struct Losses {
  double there = 0, back = 0;
};

FabricOptions Lossy(const Topology& t, const std::string& options, Losses losses, const std::string& to) {
  FabricOptions o = PacketFabricOptions(options);
  o.changes = {{Time::Zero(), LinkOf(t, "device.0", to), 1, losses.there},
               {Time::Zero(), LinkOf(t, to, "device.0"), 1, losses.back}};
  return o;
}

// One message of `packets` packets over one link, with a fixed window.
PacketRun OverOneLink(uint64_t packets, Losses losses, const std::string& recovery, int seed) {
  const Topology t = OneLink();
  const std::string text = absl::StrCat("transport=(window:bytes=", kWindow * kMtu,
                                        "),timeout=20us,recovery=", recovery, ",seed=", seed);
  return PacketRun(t, Lossy(t, text, losses, "device.1"), AtOnce({Message(0, 1, packets * kMtu, 0)}));
}

// The time of a message with go-back-N. The receiver takes packets in order only. Each sending of a packet is
// lost with probability p.
//
// - After the first loss, the next packet that arrives makes the receiver ask for the lost one. That packet
// starts
//   kPacket later and arrives after kPacket and the latency; the request returns after the latency and its
//   own transfer. The sender finishes its current packet, and starts again from the lost one. All slots since
//   then are wasted: ceil((2 kPacket + 2 latencies + request) / kPacket), and one more for each packet that
//   is lost right after it, p / (1 - p).
// - The receiver asks once. If the packet is lost again, the sender fills its window and gets no answer. It
// starts
//   again one timeout after it started the last packet of the window.
double GoBackNPicos(uint64_t packets, double p) {
  const double round = 2 * kPacket + 2.0 * static_cast<double>(kLatency.picos()) + kAck / kRate;
  const double asked = kPacket * (std::ceil(round / kPacket) + p / (1 - p));
  const double silent = kPacket * (kWindow - 1) + static_cast<double>(kTimeout.picos());
  return static_cast<double>(packets) * (kPacket + p * asked + p * p / (1 - p) * silent);
}

TEST(PacketLoss, GoBackNGoodputMatchesClosedForm) {
  constexpr uint64_t kPackets = 200000;
  // Three standard deviations of the numbers of first and second losses.
  const std::pair<double, double> cases[] = {{0.0001, 0.001}, {0.001, 0.006}, {0.01, 0.02}};
  for (const auto& [p, tolerance] : cases) {
    for (const int seed : {1, 2, 3}) {
      const PacketRun run = OverOneLink(kPackets, {p, 0}, "go_back_n", seed);
      const double expected = GoBackNPicos(kPackets, p);
      EXPECT_NEAR(static_cast<double>(run.Received(0).picos()) / expected, 1, tolerance)
          << p << " seed " << seed << ", lost " << run.counters().lost;
    }
  }
}

// Each lost packet is sent again, and no other packet is. Later packets reveal the loss, also the second
// time, so only the last packets need timeouts.
TEST(PacketLoss, SelectiveResendsEachLostPacketOnce) {
  constexpr uint64_t kPackets = 100000;
  for (const double p : {0.0001, 0.001, 0.01, 0.05, 0.2}) {
    const PacketRun selective = OverOneLink(kPackets, {p, 0}, "selective", 1);
    const PacketRun back = OverOneLink(kPackets, {p, 0}, "go_back_n", 1);
    const PacketTotals c = selective.counters();
    EXPECT_EQ(c.packets, kPackets + c.lost) << p;
    EXPECT_EQ(c.again, c.lost) << p;
    EXPECT_LE(c.timeouts, 2u) << p;
    const double link = static_cast<double>(c.packets) * kPacket;
    const auto end = static_cast<double>(selective.Received(0).picos());
    const double waits = 2e6 + static_cast<double>(c.timeouts) * 23e6;  // round trips and timeouts
    EXPECT_GE(end, link) << p;
    EXPECT_LE(end, link + waits) << p;
    EXPECT_LT(selective.Received(0), back.Received(0)) << p;
    EXPECT_GT(back.counters().again, c.again) << p;
  }
}

TEST(PacketLoss, LostShareIsBinomial) {
  for (const double p : {0.0003, 0.01, 0.2, 0.5}) {
    uint64_t before = 0;
    for (const int seed : {1, 2}) {
      const PacketRun run = OverOneLink(p < 0.5 ? 50000 : 2000, {p, 0}, "selective", seed);
      const Topology t = OneLink();
      const uint32_t link = LinkOf(t, "device.0", "device.1");
      const PacketNetwork& n = run.fabric->network();
      const auto packets = static_cast<double>(n.port(n.Find(link)).packets);
      const auto lost = static_cast<double>(run.Info(link).lost);
      EXPECT_NEAR(lost, p * packets, 4 * std::sqrt(p * (1 - p) * packets)) << p << " seed " << seed;
      EXPECT_EQ(run.counters().lost, run.Info(link).lost);
      EXPECT_EQ(run.counters().drops, 0u);
      EXPECT_NE(run.counters().lost, before) << p;
      before = run.counters().lost;
    }
  }
}

TEST(PacketLoss, RefusesLossAboveHalf) {
  const Topology t = OneLink();
  EXPECT_TRUE(MakeFabric("packet", t, Lossy(t, "", {0.5, 0}, "device.1")).ok());
  EXPECT_THAT(std::string(MakeFabric("packet", t, Lossy(t, "", {0.51, 0}, "device.1")).status().message()),
              AllOf(HasSubstr("link device.0 - device.1"), HasSubstr("0.51"), HasSubstr("at most 0.5")));
}

// An acknowledgement covers all earlier packets. While the window has room, a lost one costs nothing.
TEST(PacketLoss, LostAcknowledgementsCostNothing) {
  for (const char* recovery : {"go_back_n", "selective"}) {
    const PacketRun all = OverOneLink(20000, {}, recovery, 1);
    const PacketRun some = OverOneLink(20000, {0, 0.3}, recovery, 1);
    EXPECT_EQ(some.Received(0), all.Received(0)) << recovery;
    EXPECT_GT(some.counters().lost, 5000u) << recovery;
    EXPECT_LE(some.counters().again, kWindow) << recovery;  // if the last acknowledgement was lost
  }
  // The acknowledgement of the only packet is lost, several times.
  uint64_t most = 0;
  for (const int seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    const PacketRun last = OverOneLink(1, {0, 0.5}, "go_back_n", seed);
    EXPECT_EQ(last.ended.size(), 1u);
    EXPECT_EQ(last.counters().timeouts, last.counters().lost);
    most = std::max(most, last.counters().timeouts);
    ExpectQuiet(*last.fabric, PacketFabricOptions(""));
  }
  EXPECT_GE(most, 2u);
}

const char* const kOptions[] = {
    "",
    "recovery=selective,ack_every=4",
    "transport=dcqcn,buffer=200KB,ecn_low=20KB,ecn_high=60KB",
    "transport=dctcp,buffer=4MB,flow_control=pfc,xoff=20KB",
    "transport=hpcc,flow_control=credit,credit=9KB",
    "transport=nscc,queue=200KB,trim=yes",
    "transport=swift,switching=cut_through,switch_latency=100ns,queue=40KB",
    "transport=timely,flow_control=credit",
    "spread=adaptive,paths=8,buffer=1MB",
    "spread=packet,paths=8,classes=4,weights=1x2x5,recovery=selective",
};

// All links lose packets, in both directions. A packet that leaves a node arrives at the next one or is lost.
TEST(PacketLoss, EachTransportDeliversAll) {
  const Topology t = OfNetwork("leaf_spine:hosts_per_leaf=4,spines=4,link=400Gb/s", 12);
  for (const char* text : kOptions) {
    SCOPED_TRACE(text);
    FabricOptions o =
        PacketFabricOptions(absl::StrCat("mtu=1000,timeout=100us", *text == 0 ? "" : ",", text));
    for (uint32_t link = 0; link < t.links(); ++link) o.changes.push_back({Time::Zero(), link, 1, 0.02});
    std::mt19937_64 random(5);
    const auto flows = RandomFlows(12, 60, 100000, &random);
    const PacketRun run(t, o, flows);
    ExpectAllReceived(flows, run.ended);
    ExpectQuiet(*run.fabric, o);
    const PacketNetwork& n = run.fabric->network();
    const PacketTotals c = run.counters();
    uint64_t begun = 0, carried = 0, lost = 0;
    for (uint32_t i = 0; i < n.ports(); ++i) {
      if (!n.node(n.port(i).node).is_switch) begun += n.port(i).packets;
      carried += n.port(i).packets;
      lost += n.info(i).lost;
    }
    EXPECT_EQ(begun, c.packets + c.acks);
    EXPECT_EQ(lost, c.lost);
    const auto mean = 0.02 * static_cast<double>(carried);
    EXPECT_NEAR(static_cast<double>(lost), mean, 4 * std::sqrt(mean));
    EXPECT_TRUE(c.drops == 0 || o.Get<PacketOptions>().flow_control == PacketOptions::FlowControl::kNone);
  }
}

// Two links with the same probability lose different packets; another seed gives other packets.
TEST(PacketLoss, LinksDrawIndependently) {
  const Topology t = Star(3, 50, kLatency);
  const auto ends = [&](int seed, const char* to) {
    FabricOptions o = Lossy(t, absl::StrCat("seed=", seed, ",recovery=selective"), {0.05, 0}, "switch");
    o.changes.push_back({Time::Zero(), LinkOf(t, "device.1", "switch"), 1, 0.05});
    const PacketRun run(t, o, AtOnce({Message(to[0] - '0', 2, 1000 * kMtu, 0)}));
    return run.Received(0);
  };
  EXPECT_EQ(ends(1, "0"), ends(1, "0"));
  EXPECT_NE(ends(1, "0"), ends(1, "1"));
  EXPECT_NE(ends(1, "0"), ends(2, "0"));
}

// A link loses packets only during the fault. The instant at which a packet starts to leave decides.
TEST(PacketLoss, LossLastsAsLongAsTheFault) {
  const Topology t = OneLink();
  const uint32_t link = LinkOf(t, "device.0", "device.1");
  const auto run = [&](std::vector<LinkChange> changes) {
    FabricOptions o = PacketFabricOptions("transport=(window:bytes=4MB),recovery=selective,timeout=20us");
    o.changes = std::move(changes);
    return PacketRun(t, o, AtOnce({Message(0, 1, 1000 * kMtu, 0)}));  // 83.2 us
  };
  const Time free = run({}).Received(0);
  EXPECT_EQ(run({{Time::Zero(), link, 1, 0}}).Received(0), free);
  EXPECT_EQ(run({{Time::Micros(90), link, 1, 0.5}}).Received(0), free);
  EXPECT_EQ(run({{Time::Micros(5), link, 1, 0.5}, {Time::Micros(5), link, 1, 0}}).Received(0), free);
  const PacketRun some = run({{Time::Micros(10), link, 1, 0.5}, {Time::Micros(20), link, 1, 0}});
  // In 10 us, 120 packets leave; half of them are lost.
  EXPECT_NEAR(static_cast<double>(some.counters().lost), 60, 4 * std::sqrt(30.0));
  // With half of the bandwidth, half as many packets start in that time.
  const PacketRun slow = run({{Time::Micros(10), link, 0.5, 0.5}, {Time::Micros(20), link, 1, 0}});
  EXPECT_NEAR(static_cast<double>(slow.counters().lost), 30, 4 * std::sqrt(15.0));
}

// Paths of up to six links.
TEST(PacketLoss, RefusesPathsThatLoseNearlyAll) {
  const Topology t = OfNetwork("fat_tree:k=4");
  const auto made = [&](double loss, uint32_t every) {
    FabricOptions o;
    o.Set(Packets(""));
    for (uint32_t link = 0; link < t.links(); link += every) o.changes.push_back({Time(), link, 1, loss});
    return MakeFabric("packet", t, o).status();
  };
  EXPECT_TRUE(made(0.3, 1).ok());  // 88 %
  EXPECT_THAT(std::string(made(0.5, 1).message()),
              HasSubstr("links between device.0 and device.2 lose 93.75 % of the packets at random"));
  EXPECT_THAT(std::string(made(0.4, 1).message()),
              HasSubstr("between device.0 and device.4 lose 95.3344 % of the packets"));
  EXPECT_TRUE(made(0.5, 16).ok());
}

TEST(PacketLoss, RefusesInvalidLosses) {
  const Topology t = OneLink();
  const auto refused = [&](const std::string& fabric, const std::string& options, LinkChange change) {
    FabricOptions o;
    if (fabric == "packet" || fabric == "mixed") o.Set(Packets(options));
    o.changes = {change};
    const auto made = MakeFabric(fabric, t, o);
    EXPECT_FALSE(made.ok());
    return std::string(made.status().message());
  };
  for (const char* fabric : {"packet", "fluid"}) {
    EXPECT_THAT(refused(fabric, "", {Time(), 0, 1, -0.1}),
                HasSubstr("loses -0.1 of its packets; expected >= 0"));
    EXPECT_THAT(refused(fabric, "", {Time(), 0, 1, 1}),
                HasSubstr("loses 1 of its packets; expected >= 0 and < 1"));
    EXPECT_THAT(refused(fabric, "", {Time(), 0, 1, std::nan("")}), HasSubstr("expected >= 0 and < 1"));
    EXPECT_THAT(refused(fabric, "", {Time(), 0, 1.5, 0}), HasSubstr("1.5 of its bandwidth; expected 0 to 1"));
  }
  EXPECT_THAT(refused("analytical", "", {Time(), 0, 1, 0.1}), HasSubstr("fluid, packet and mixed"));
  EXPECT_THAT(refused("packet", "skip=steady", {Time(), 0, 1, 0.1}),
              HasSubstr("skip cannot be used with random losses; expected skip=off"));
  FabricOptions o;
  o.Set(Packets("skip=steady"));
  o.changes = {{Time(), 0, 0.9}};
  EXPECT_TRUE(MakeFabric("packet", t, o).ok());
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
