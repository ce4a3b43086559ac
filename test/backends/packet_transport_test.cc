// Every transport on fabric `packet` delivers all messages within a bound of time, also with losses.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "test/backends/packet_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using packet::TransportKind;
using packet::TransportKinds;

constexpr uint64_t kMtu = 4086;

std::vector<std::string> TransportNames() {
  std::vector<std::string> names;
  for (const TransportKind& kind : TransportKinds()) names.emplace_back(kind.name);
  return names;
}

// The options that suit a transport: lossless links, or trimming.
std::string Meant(const std::string& transport) {
  const auto kinds = TransportKinds();
  const auto kind =
      std::find_if(kinds.begin(), kinds.end(), [&](const TransportKind& k) { return k.name == transport; });
  return absl::StrCat("mtu=4086,header=64,ack=64,transport=", transport,
                      kind->trims ? ",queue=200KB" : ",buffer=16MB,flow_control=pfc");
}

// 16 hosts; links of 100 Gb/s and 500 ns.
Topology Leaves() {
  return OfNetwork("leaf_spine:k=8,link=12.5GB/s,uplink=12.5GB/s,latency=500ns,uplink_latency=500ns", 16);
}

// The least time, in ns, in which `senders` times `wire` bytes pass one port at 12.5 B/ns, over `links` links
// of 500 ns.
double Bound(int senders, double wire, int links) {
  return senders * wire / 12.5 + links * 500 + (links - 1) * 4150 / 12.5;
}

TEST(PacketTransport, IncastEndsWithinBounds) {
  const Topology t = Star(17, 12.5, Time::Nanos(500));
  for (const std::string& name : TransportNames()) {
    const FabricOptions o = PacketFabricOptions(Meant(name));
    const std::vector<TimedFlow> flows = Incast(16, 200 * kMtu);
    const PacketRun run(t, o, flows);
    ExpectAllReceived(flows, run.ended);
    ExpectQuiet(*run.fabric, o);
    const double bound = Bound(16, 200 * 4150, 2), end = static_cast<double>(run.End().picos()) / 1e3;
    EXPECT_GE(end, bound - 1) << name;
    // TIMELY has no window: the queue of the first round trips takes the rate to its minimum, and the rate
    // recovers slowly.
    EXPECT_LE(end, (name == "timely" ? 20 : 2) * bound) << name;
    EXPECT_EQ(run.counters().drops, 0u) << name;
    EXPECT_EQ(run.counters().timeouts, 0u) << name;
  }
}

TEST(PacketTransport, PermutationEndsWithinBounds) {
  const Topology t = Leaves();
  for (const std::string& name : TransportNames()) {
    FabricOptions o = PacketFabricOptions(Meant(name));
    o.routing.policy = RoutingPolicy::kDestination;  // no two on one link
    std::vector<Flow> flows;
    for (int i = 0; i < 16; ++i) flows.push_back(Message(i, (i + 4) % 16, 400 * kMtu, 0));
    const PacketRun run(t, o, AtOnce(flows));
    ExpectAllReceived(AtOnce(flows), run.ended);
    ExpectQuiet(*run.fabric, o);
    const double bound = Bound(1, 400 * 4150, 4), end = static_cast<double>(run.End().picos()) / 1e3;
    EXPECT_GE(end, bound - 1) << name;
    EXPECT_LE(end, 2 * bound) << name;
    EXPECT_EQ(run.counters().drops, 0u) << name;
  }
}

TEST(PacketTransport, RecoversFromLosses) {
  // Queues of 12 packets, six senders to two receivers, short timeouts.
  const Topology t = Star(8, 12.5, Time::Nanos(500));
  for (const std::string& name : TransportNames()) {
    for (const char* recovery : {"go_back_n", "selective"}) {
      if (name == "nscc" && recovery[0] == 'g') continue;  // refused: it sprays
      std::string text = absl::StrCat("mtu=4086,header=64,transport=", name, ",recovery=", recovery,
                                      ",queue=50KB,trim=no,timeout=60us");
      if (name == "dctcp" || name == "dcqcn" || name == "nscc") text += ",ecn_low=20KB,ecn_high=40KB";
      const FabricOptions o = PacketFabricOptions(text);
      std::vector<TimedFlow> flows;
      for (int i = 0; i < 24; ++i) {
        Flow f = Message(2 + i % 6, i % 2, static_cast<uint64_t>(1 + i) * 9000, static_cast<uint64_t>(i));
        f.want_sent = true;
        flows.push_back({f, Time::Nanos(300 * i)});
      }
      const PacketRun run(t, o, flows);
      ExpectAllReceived(flows, run.ended);
      ExpectQuiet(*run.fabric, o);
      EXPECT_GT(run.counters().drops, 0u) << text;
      EXPECT_GT(run.counters().again, 0u) << text;
      EXPECT_LT(run.End(), Time::Micros(20000)) << text;
    }
  }
}

TEST(PacketTransport, SelectiveResendsOnlyLostPackets) {
  // A link is down for 2 us in the middle of 200 packets. The packets on the link and on the link before it
  // are lost, 832 ns on each; then the sender knows that there is no path.
  const Topology t = Line({12.5, 12.5, 12.5}, Time::Nanos(500));
  const auto run = [&](const char* recovery) {
    FabricOptions o = PacketFabricOptions(
        absl::StrCat("mtu=4086,header=64,transport=(window:bytes=160KB),timeout=1ms,recovery=", recovery));
    const uint32_t link = LinkOf(t, "switch.0", "switch.1");
    o.changes = {{Time::Nanos(20000), link, 0}, {Time::Nanos(22000), link, 1}};
    const std::vector<TimedFlow> flows = {{Message(0, 1, 200 * kMtu, 0), Time::Zero()}};
    PacketRun r(t, o, flows);
    ExpectAllReceived(flows, r.ended);
    ExpectQuiet(*r.fabric, o);
    EXPECT_EQ(r.counters().packets, 200 + r.counters().again) << recovery;
    EXPECT_EQ(r.counters().timeouts, 0u) << recovery;
    EXPECT_EQ(r.counters().drops, 5u) << recovery;
    return r;
  };
  const PacketRun selective = run("selective"), all = run("go_back_n");
  EXPECT_EQ(selective.counters().again, selective.counters().drops);
  EXPECT_GT(all.counters().again, all.counters().drops);
  EXPECT_LT(selective.End(), all.End());
}

TEST(PacketTransport, TrimmedPacketsAreResentAtOnce) {
  // 15 senders to one receiver; each sends its first window at once, into a queue of 10 packets.
  const Topology t = Leaves();
  const FabricOptions o = PacketFabricOptions("mtu=4086,header=64,transport=nscc,queue=41500B,timeout=1ms");
  std::vector<Flow> flows;
  for (int i = 1; i < 16; ++i) flows.push_back(Message(i, 0, 60 * kMtu, 0));
  const PacketRun run(t, o, AtOnce(flows));
  ExpectAllReceived(AtOnce(flows), run.ended);
  ExpectQuiet(*run.fabric, o);
  EXPECT_GT(run.counters().trims, 0u);
  EXPECT_EQ(run.counters().drops, 0u);
  EXPECT_EQ(run.counters().timeouts, 0u);
  EXPECT_LE(static_cast<double>(run.End().picos()) / 1e3, 2 * Bound(15, 60 * 4150, 4));
}

TEST(PacketTransport, SprayedPacketsUseAllPaths) {
  // The hosts of one leaf send to those of another over four uplinks. Hashes put two flows on one uplink.
  const Topology t = Leaves();
  std::vector<Flow> flows;
  for (int i = 0; i < 4; ++i) flows.push_back(Message(i, i + 4, 800 * kMtu, 0));
  const auto end = [&](const char* more) {
    const PacketRun run(t, PacketFabricOptions(absl::StrCat("mtu=4086,header=64,", more)), AtOnce(flows));
    ExpectAllReceived(AtOnce(flows), run.ended);
    return static_cast<double>(run.End().picos()) / 1e3 / Bound(1, 800 * 4150, 4);
  };
  EXPECT_LE(end("transport=(window:bdp=4),spread=packet,paths=256"), 1.15);
  EXPECT_LE(end("transport=nscc,queue=400KB"), 1.15);
  EXPECT_GE(end("transport=window"), 1.9);
}

TEST(PacketTransport, FairQueuesGiveALongFlowItsShare) {
  // A row of three switches, one flow over both middle links, and one on each. If links serve the classes in
  // turn, each flow gets half.
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, 6);
  b.AddVertices("switch", VertexKind::kSwitch, 3, 1);
  const uint16_t c = b.AddClass({"link", Bandwidth::FromGigabytes(12.5), Time::Nanos(500)});
  for (uint32_t d = 0; d < 6; ++d) b.AddLink(d, 6 + d / 2, c);
  b.AddLink(6, 7, c);
  b.AddLink(7, 8, c);
  const Topology t = OfGraph(std::move(b));
  std::vector<Flow> flows = {Message(0, 4, 500 * kMtu, 0), Message(1, 2, 500 * kMtu, 0),
                             Message(3, 5, 500 * kMtu, 0)};
  flows[0].service_class = 1;
  const PacketRun run(t, PacketFabricOptions("mtu=4086,header=64,classes=3,transport=(window:bytes=1GB)"),
                      AtOnce(flows));
  for (uint64_t tag = 0; tag < 3; ++tag) {
    EXPECT_NEAR(static_cast<double>(run.Received(tag).picos()) / (1000 * 332e3), 1, 0.01) << tag;
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
