// Queues, marks, buffers and flow control of switches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "absl/strings/str_cat.h"
#include "test/backends/packet_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

// A full packet has 4,150 bytes on a link: 332 ns at 100 Gb/s (12.5 GB/s). The window never limits.
const char kPackets[] = "mtu=4086,header=64,ack=64,transport=(window:bytes=1GB)";
constexpr uint64_t kMtu = 4086;
constexpr uint64_t kWire = 4150;
constexpr int64_t kPacket = 332000;  // ps

std::string With(const std::string& more) { return absl::StrCat(kPackets, ",", more); }

TEST(PacketSwitch, IncastQueueMatchesClosedForm) {
  // m senders of n packets; one packet leaves in each packet time. At most m n L - (n - 1) L bytes wait, with
  // the packet in service. The last byte leaves at (1 + m n) L / r.
  for (const auto& [m, n] : std::vector<std::pair<int, int>>{{16, 40}, {3, 5}, {2, 1}}) {
    const Topology t = Star(17, 12.5, Time::Nanos(500));
    const auto packets = static_cast<uint64_t>(n);
    const PacketRun run(t, PacketFabricOptions(kPackets), Incast(m, packets * kMtu));
    const uint64_t most = (static_cast<uint64_t>(m) * packets - (packets - 1)) * kWire;
    // With one packet for each sender, the first does not wait.
    EXPECT_EQ(run.MostQueued(LinkOf(t, "switch", "device.0")), n == 1 ? most - kWire : most) << m;
    EXPECT_EQ(run.End(), Time::Picos(1000000 + (1 + m * n) * kPacket)) << m;
    ExpectQuiet(*run.fabric, PacketFabricOptions(kPackets));
  }
}

TEST(PacketSwitch, MarksAboveAStepThreshold) {
  // Two senders, 40 packets each. Packet i leaves i + 1 packets behind while both send; then the queue
  // shrinks by one each time. 30 and 29 packets leave more than 10 behind.
  const Topology t = Star(3, 12.5, Time::Nanos(500));
  for (const char* at : {"dequeue", "enqueue"}) {
    const PacketRun run(
        t, PacketFabricOptions(With(absl::StrCat("ecn=yes,ecn_low=41500B,ecn_high=41500B,ecn_at=", at))),
        Incast(2, 40 * kMtu));
    EXPECT_EQ(run.counters().marks, 59u) << at;
    EXPECT_EQ(run.Info(LinkOf(t, "switch", "device.0")).marks, 59u) << at;
  }
}

TEST(PacketSwitch, MarksBetweenThresholdsByChance) {
  // 200 x 16 packets. The expected marks are the sum of p(q) = P (q - low) / (high - low) over the queues
  // behind them.
  const Topology t = Star(17, 12.5, Time::Nanos(500));
  const PacketRun run(t, PacketFabricOptions(With("ecn=yes,ecn_low=400KB,ecn_high=16MB,ecn_probability=0.2")),
                      Incast(16, 200 * kMtu));
  double expected = 0;
  for (int i = 0; i < 3200; ++i) {
    const double left = 4150.0 * (i < 200 ? 15 * i + 14 : 3199 - i);
    if (left > 400e3) expected += 0.2 * (left - 400e3) / (16e6 - 400e3);
  }
  EXPECT_NEAR(static_cast<double>(run.counters().marks), expected, 4 * std::sqrt(expected));
}

TEST(PacketSwitch, QueueTakesItsShareOfTheBuffer) {
  // A single queue takes q = alpha (B - q) = alpha B / (1 + alpha), to a packet; the switch drops the rest.
  const Topology t = Star(17, 12.5, Time::Nanos(500));
  for (const double alpha : {0.25, 1.0, 4.0}) {
    const PacketRun run(t,
                        PacketFabricOptions(With(absl::StrCat("buffer=1MB,alpha=", alpha, ",timeout=1ms"))),
                        Incast(16, 60 * kMtu));
    const double most = 1e6 * alpha / (1 + alpha);
    const auto queued = static_cast<double>(run.MostQueued(LinkOf(t, "switch", "device.0")));
    EXPECT_GT(queued, most - kWire) << alpha;
    EXPECT_LT(queued, most + kWire) << alpha;
    EXPECT_GT(run.counters().drops, 0u);
    ExpectAllReceived(Incast(16, 60 * kMtu), run.ended);
    ExpectQuiet(*run.fabric, PacketFabricOptions(With("buffer=1MB")));
  }
}

TEST(PacketSwitch, QueueKeepsItsLimit) {
  const Topology t = Star(5, 12.5, Time::Nanos(500));
  const PacketRun run(t, PacketFabricOptions(With("queue=20750,timeout=50us")), Incast(4, 30 * kMtu));
  EXPECT_EQ(run.MostQueued(LinkOf(t, "switch", "device.0")), 5 * kWire);
  EXPECT_GT(run.counters().drops, 0u);
  EXPECT_GT(run.counters().again, 0u);
  ExpectAllReceived(Incast(4, 30 * kMtu), run.ended);
}

TEST(PacketSwitch, TrimmingKeepsHeaders) {
  const Topology t = Star(9, 12.5, Time::Nanos(500));
  const PacketRun run(t, PacketFabricOptions(With("queue=41500,trim=yes,recovery=selective")),
                      Incast(8, 5 * kMtu));
  // More packets arrive in each packet time than leave; the queue keeps headers of those without room.
  EXPECT_GT(run.counters().trims, 0u);
  EXPECT_EQ(run.counters().drops, 0u);
  EXPECT_EQ(run.counters().timeouts, 0u);
  EXPECT_EQ(run.counters().again, run.counters().trims);
  EXPECT_EQ(run.counters().packets, 8 * 5 + run.counters().again);
  ExpectAllReceived(Incast(8, 5 * kMtu), run.ended);
}

// The most bytes in the headroom of device 1's link, and the dropped packets, when the device sends into a
// port that takes almost nothing (1 MB/s).
std::pair<uint64_t, uint64_t> Headroom(Time latency, const std::string& options,
                                       const std::vector<Flow>& flows) {
  const Topology t = Star({0.001, 12.5}, latency);
  const uint32_t link = LinkOf(t, "device.1", "switch");
  uint64_t most = 0;
  const PacketRun run(t, PacketFabricOptions(options), AtOnce(flows), [&](Time, const PacketFabric& f) {
    const uint32_t port = f.network().Find(link);
    most = std::max(most, f.network().credit(port, 1).ingress_headroom);
  });
  return {most, run.counters().drops};
}

TEST(PacketSwitch, PauseNeedsHeadroom) {
  // The worst case needs 2 p r + 2 L + 64 bytes: 20,864 at p = 500 ns. Switches ask for the pause one packet
  // early, so full packets need (2 p + P / r) r / L + 1 = 4.03 of them: 4. With less headroom, packets are
  // lost.
  const std::string pfc = With("buffer=10MB,alpha=8,flow_control=pfc,xoff=50KB");
  const std::vector<Flow> full = {Message(1, 0, 40 * kMtu, 0)};
  EXPECT_EQ(Headroom(Time::Nanos(500), pfc, full), std::make_pair(4 * kWire, uint64_t{0}));
  EXPECT_EQ(Headroom(Time::Nanos(500), pfc + ",headroom=16600", full).second, 0u);
  EXPECT_GT(Headroom(Time::Nanos(500), pfc + ",headroom=16599", full).second, 0u);
}

TEST(PacketSwitch, DefaultHeadroomIsAlwaysEnough) {
  // Small packets before the large ones shift the phase. The worst case here takes 97 % of 2 p r + L + 64.
  std::mt19937_64 random(3);
  const std::string pfc = With("buffer=10MB,alpha=8,flow_control=pfc,xoff=50KB");
  double worst = 0;
  for (int i = 0; i < 60; ++i) {
    const Time latency = Time::Nanos(static_cast<int64_t>(random() % 1500));
    std::vector<Flow> flows;
    for (int f = 0; f < 4; ++f) flows.push_back(Message(1, 0, 1 + random() % 3000, 0));
    flows.push_back(Message(1, 0, 40 * kMtu, 0));
    const auto [most, drops] = Headroom(latency, pfc, flows);
    EXPECT_EQ(drops, 0u) << latency.picos();
    const double needed = 2 * 0.0125 * static_cast<double>(latency.picos()) + kWire + 64;
    EXPECT_LE(static_cast<double>(most), needed) << latency.picos();
    worst = std::max(worst, static_cast<double>(most) / needed);
  }
  EXPECT_GT(worst, 0.9);
}

TEST(PacketSwitch, FlowControlCountsSwitchLatency) {
  // Between switches, data and signals take 1 us longer.
  const std::vector<TimedFlow> flows = {{Message(0, 1, 100 * kMtu, 0), Time::Zero()}};
  const std::string slow = With("switch_latency=1us,");
  const PacketRun pfc(Line({12.5, 12.5, 0.1}, Time::Nanos(500)),
                      PacketFabricOptions(slow + "buffer=10MB,alpha=8,flow_control=pfc,xoff=50KB"), flows);
  EXPECT_GT(pfc.Info(LinkOf(pfc.fabric->network().topology(), "switch.0", "switch.1")).pauses, 0u);
  EXPECT_EQ(pfc.counters().drops, 0u);
  const PacketRun credit(Line({12.5, 12.5, 12.5}, Time::Nanos(500)),
                         PacketFabricOptions(slow + "flow_control=credit"), flows);
  EXPECT_EQ(credit.End(), Time::Picos(3500000 + 102 * kPacket));
}

TEST(PacketSwitch, EarlyResumeLeavesNoGap) {
  // After a resume, the next packet arrives after 2 p + (L + P) / r = 1,337.12 ns. The port of 50 Gb/s sends
  // a packet in 664 ns. Three packets, with the one in service, bridge that time; two are 9.12 ns too short.
  const Topology t = Star({6.25, 12.5}, Time::Nanos(500));
  const std::vector<TimedFlow> flows = {{Message(1, 0, 200 * kMtu, 0), Time::Zero()}};
  const auto end = [&](const std::string& more) {
    const PacketRun run(t, PacketFabricOptions(With(more)), flows);
    EXPECT_GT(run.counters().pauses, 2u);
    EXPECT_EQ(run.counters().drops, 0u);
    return run.End();
  };
  const PacketRun free(t, PacketFabricOptions(kPackets), flows);
  EXPECT_EQ(free.End(), Time::Picos(1000000 + kPacket + 200 * 2 * kPacket));
  const std::string pfc = "buffer=10MB,alpha=8,flow_control=pfc,xoff=60KB,xon_gap=";
  EXPECT_EQ(end(pfc + "51700"), free.End());  // 8,300 left
  const Time late = end(pfc + "51701");
  EXPECT_GT(late, free.End());
  EXPECT_EQ((late - free.End()).picos() % 9120, 0);
}

TEST(PacketSwitch, LosslessLinksLoseNothing) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 24; ++i) {
    const Topology t = OfNetwork("leaf_spine:k=8,link=12.5GB/s,uplink=12.5GB/s,latency=300ns", 16);
    std::vector<Flow> flows;
    for (int f = 0; f < 30; ++f) {
      // Into the first three devices.
      const int dst = static_cast<int>(random() % 3);
      const int src = 3 + static_cast<int>(random() % 13);
      flows.push_back(Message(src, dst, random() % (60 * kMtu), 0));
    }
    const char* const kinds[] = {"buffer=600KB,alpha=0.5,flow_control=pfc",
                                 "buffer=600KB,alpha=8,flow_control=pfc,xoff=20KB,reserved=4150",
                                 "flow_control=credit", "flow_control=credit,credit=8300"};
    const FabricOptions o = PacketFabricOptions(With(kinds[i % 4]));
    const PacketRun run(t, o, AtOnce(flows));
    EXPECT_EQ(run.counters().drops, 0u) << i;
    EXPECT_EQ(run.counters().again, 0u) << i;
    EXPECT_EQ(run.counters().pauses > 0, i % 4 < 2) << i;
    ExpectAllReceived(AtOnce(flows), run.ended);
    ExpectQuiet(*run.fabric, o);
  }
}

TEST(PacketSwitch, CreditLimitsTheLinkRate) {
  const Topology t = Star({12.5, 12.5}, Time::Nanos(500));
  const std::vector<TimedFlow> flows = {{Message(1, 0, 100 * kMtu, 0), Time::Zero()}};
  const PacketRun free(t, PacketFabricOptions(kPackets), flows);
  EXPECT_EQ(PacketRun(t, PacketFabricOptions(With("flow_control=credit")), flows).End(), free.End());
  // With credit for one packet, each packet on the first link waits for its credit to return: 2 p + L / r.
  const PacketRun one(t, PacketFabricOptions(With("flow_control=credit,credit=4150")), flows);
  EXPECT_EQ(one.End(), Time::Picos(99 * (1000000 + kPacket) + 1000000 + 2 * kPacket));
}

// Five switches in a ring, a device on each. All send to the device three switches further, in one direction.
struct RingNetwork {
  Topology topology;
  RoutingOptions routing;
  std::vector<TimedFlow> flows;
};
RingNetwork Ring(uint64_t bytes) {
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, 5);
  b.AddVertices("switch", VertexKind::kSwitch, 5, 1);
  const uint16_t c = b.AddClass({"link", Bandwidth::FromGigabytes(12.5), Time::Nanos(10)});
  std::string routes;
  std::vector<Flow> flows;
  for (uint32_t i = 0; i < 5; ++i) b.AddLink(i, 5 + i, c);
  for (uint32_t i = 0; i < 5; ++i) {
    b.AddLink(5 + i, 5 + (i + 1) % 5, c);
    absl::StrAppend(&routes, "device.", i, " -> device.", (i + 3) % 5, ":");
    for (uint32_t s = 0; s < 4; ++s) absl::StrAppend(&routes, " switch.", (i + s) % 5);
    absl::StrAppend(&routes, " device.", (i + 3) % 5, "\n");
    flows.push_back(Message(static_cast<int>(i), static_cast<int>((i + 3) % 5), bytes, 0));
  }
  RingNetwork ring = {OfGraph(std::move(b)), {}, AtOnce(flows)};
  auto file = RouteFile::Parse(routes, "ring", ring.topology.dimensions()[0].network->graph);
  EXPECT_TRUE(file.ok()) << file.status();
  ring.routing.routes = {std::make_shared<const RouteFile>(*std::move(file))};
  return ring;
}

TEST(PacketSwitch, NamesDeadlocks) {
  const RingNetwork ring = Ring(100 * kMtu);
  // Headroom for three links: 3 x 8,614.
  for (const char* more :
       {"buffer=67400,alpha=8,flow_control=pfc,xoff=8300B,xon_gap=4150", "flow_control=credit,credit=8300"}) {
    FabricOptions o = PacketFabricOptions(With(more));
    o.routing = ring.routing;
    const PacketRun stuck(ring.topology, o, ring.flows);
    EXPECT_EQ(stuck.ended.size(), 0u) << more;
    EXPECT_EQ(stuck.counters().drops, 0u) << more;
    const std::string why = stuck.fabric->WhyStuck();
    EXPECT_THAT(why, HasSubstr("deadlock"));
    for (int i = 0; i < 5; ++i) {
      EXPECT_THAT(why, HasSubstr(absl::StrCat("switch.", i, " - switch.", (i + 1) % 5))) << more;
    }
    // Up-down routes have no cycle.
    FabricOptions up_down = PacketFabricOptions(With(more));
    up_down.routing.up_down = true;
    const PacketRun fine(ring.topology, up_down, ring.flows);
    ExpectAllReceived(ring.flows, fine.ended);
    EXPECT_EQ(fine.fabric->WhyStuck(), "");
    ExpectQuiet(*fine.fabric, up_down);
  }
  // Switches that drop do not deadlock.
  FabricOptions lossy = PacketFabricOptions(With("buffer=67400,alpha=8,timeout=20us"));
  lossy.routing = ring.routing;
  ExpectAllReceived(ring.flows, PacketRun(ring.topology, lossy, ring.flows).ended);
}

TEST(PacketSwitch, ControlPassesData) {
  // Device 0 receives 2 x 200 packets, and sends 20 to device 3, one at a time. An acknowledgement waits at
  // most for the packet that is on the link.
  const Topology t = Star(4, 12.5, Time::Nanos(500));
  const std::string one = "mtu=4086,header=64,ack=64,transport=(window:bytes=4086)";
  const auto end = [&](int senders) {
    std::vector<TimedFlow> flows = {{Message(0, 3, 20 * kMtu, 9), Time::Zero()}};
    for (int i = 1; i <= senders; ++i) {
      for (int k = 0; k < 100; ++k) {
        flows.push_back({Message(i, 0, 2 * kMtu, 100 + static_cast<uint64_t>(flows.size())), Time::Zero()});
      }
    }
    return PacketRun(t, PacketFabricOptions(one), flows).Received(9).picos();
  };
  const int64_t alone = end(0);
  EXPECT_EQ(alone, 19 * (2000000 + 2 * kPacket + 2 * 5120) + 1000000 + 2 * kPacket);
  // At most one packet time longer for each of the 20 packets.
  EXPECT_LE(end(2), alone + 20 * kPacket);
  EXPECT_GT(end(2), alone);
}

TEST(PacketSwitch, ClassesShareByWeight) {
  // 60 packets each, weights 1 and 3: the second ends when the first has sent 20.
  const Topology t = Star(4, 12.5, Time::Nanos(500));
  const auto ends = [&](const std::string& more, bool one_card) {
    Flow a = Message(1, 0, 60 * kMtu, 0), b = Message(one_card ? 1 : 2, 0, 60 * kMtu, 0);
    b.service_class = 1;
    const FabricOptions o = PacketFabricOptions(With(more));
    const PacketRun run(t, o, AtOnce({a, b}));
    ExpectQuiet(*run.fabric, o);
    return std::make_pair(run.Received(0), run.Received(1));
  };
  const double us = 1e6;
  for (const bool one_card : {false, true}) {
    const auto [light, heavy] = ends("classes=3,weights=1x3", one_card);
    EXPECT_NEAR(heavy.picos() / us, 1 + (1 + 80) * 0.332, 4 * 0.332) << one_card;
    EXPECT_EQ(light, Time::Picos(1000000 + 121 * kPacket)) << one_card;
    const auto [first, second] = ends("classes=3", one_card);
    EXPECT_NEAR(first.picos() / us, 1 + 120 * 0.332, 3 * 0.332) << one_card;
    EXPECT_EQ(std::max(first, second), Time::Picos(1000000 + 121 * kPacket)) << one_card;
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
