// Fabric `packet` on random networks, with random options.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "test/backends/packet_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using packet::KindOf;

// Expects of a run that ended: counters agree, and each switch passes on all packets that it gets.
void ExpectConserved(const PacketRun& run, const FabricOptions& o, const std::vector<TimedFlow>& flows) {
  const PacketNetwork& n = run.fabric->network();
  const PacketTotals& c = run.counters();
  uint64_t packets = 0, drops = 0, lost = 0, trims = 0, marks = 0, pauses = 0;
  std::vector<uint64_t> in(n.nodes(), 0), out(n.nodes(), 0), bytes_in(n.nodes(), 0), bytes_out(n.nodes(), 0);
  for (uint32_t i = 0; i < n.ports(); ++i) {
    const Port& p = n.port(i);
    const PortInfo& info = n.info(i);
    packets += p.packets;
    drops += info.drops;
    lost += info.lost;
    trims += info.trims;
    marks += info.marks;
    pauses += info.pauses;
    in[info.peer] += p.packets - info.lost;
    out[p.node] += p.packets + info.drops;
    bytes_in[info.peer] += p.sent;
    bytes_out[p.node] += p.sent;
  }
  EXPECT_EQ(c.hops, packets);
  EXPECT_EQ(c.drops, drops);
  EXPECT_EQ(c.lost, lost);
  EXPECT_EQ(c.trims, trims);
  EXPECT_EQ(c.marks, marks);
  EXPECT_EQ(c.pauses, pauses);
  for (uint32_t i = 0; i < n.nodes(); ++i) {
    if (!n.node(i).is_switch) continue;
    EXPECT_EQ(in[i], out[i]) << i;
    EXPECT_TRUE(drops + lost + trims > 0 || bytes_in[i] == bytes_out[i]) << i;
  }
  uint64_t data = 0;
  for (const TimedFlow& f : flows) {
    if (f.flow.src != f.flow.dst)
      data +=
          std::max<uint64_t>(1, (f.flow.bytes + o.Get<PacketOptions>().mtu - 1) / o.Get<PacketOptions>().mtu);
  }
  EXPECT_GE(c.packets, data);
  if (drops + lost + trims + c.timeouts == 0) {
    EXPECT_EQ(c.packets, data);
    EXPECT_EQ(c.again, 0u);
  }
  // Go-back-N counts packets as sent again when it goes back; some of them may prove to have arrived.
  EXPECT_LE(c.packets - data, c.again);
  // No message is faster than its path allows, if it has one path; none is sent after it was received.
  const bool one_way = o.Get<PacketOptions>().spread == PacketOptions::Spread::kConnection;
  for (const TimedFlow& f : flows) {
    const Time received = run.Received(f.flow.tag);
    const FlowCost cost = run.fabric->Cost(f.flow.src, f.flow.dst, f.flow.bytes);
    EXPECT_GE(received, f.at + f.flow.delay + (one_way ? cost.sent : Time::Zero()));
    EXPECT_LE(run.Sent(f.flow.tag), received);
  }
}

TEST(PacketRandom, ConservesPacketsOnAnyNetwork) {
  const std::vector<Topology> topologies = {
      Star({12.5, 25, 5, 12.5, 50}, Time::Nanos(300)),
      OfNetwork("leaf_spine:k=8", 12),
      OfNetwork("fat_tree:k=4", 16),
      OfNetwork("torus:shape=3x3", 0),
      OfNetwork("multi_plane:planes=2,of=(leaf_spine:k=4)", 8),
      MakeTopology({MakeDim(TopologyDimension::Kind::kRing, 3, 25, 200),
                    MakeDim(TopologyDimension::Kind::kSwitch, 4, 12.5, 400)}),
      MakeTopology({MakeDim(TopologyDimension::Kind::kFullyConnected, 5, 25, 100)}),
  };
  const std::vector<std::string> limits = {"",
                                           "queue=30KB",
                                           "buffer=300KB",
                                           "buffer=300KB,alpha=1,reserved=2KB",
                                           "buffer=2MB,flow_control=pfc",
                                           "buffer=2MB,flow_control=pfc,xoff=30KB,xon_gap=5KB",
                                           "flow_control=credit",
                                           "flow_control=credit,credit=9KB",
                                           "queue=30KB,trim=yes,recovery=selective"};
  const std::vector<std::string> transports = {
      "window", "(window:bytes=100KB)", "dcqcn", "dctcp", "hpcc", "nscc", "swift", "timely"};
  const std::vector<std::string> others = {"",
                                           "switching=cut_through,switch_latency=200ns",
                                           "ack_every=4",
                                           "classes=4,weights=1x2x5",
                                           "recovery=selective",
                                           "spread=packet,paths=8",
                                           "spread=adaptive,paths=8",
                                           "ecn_low=10KB,ecn_high=25KB",
                                           "ecn_low=10KB,ecn_high=25KB,ecn_at=enqueue"};
  std::mt19937_64 random(2024);
  int accepted = 0;
  for (int i = 0; accepted < 100 && i < 1000; ++i) {
    const Topology& t = topologies[random() % topologies.size()];
    std::string text = absl::StrCat("timeout=200us,transport=", transports[random() % transports.size()]);
    if (random() % 2 == 0) absl::StrAppend(&text, ",mtu=1000");
    for (const std::string& part : {limits[random() % limits.size()], others[random() % others.size()]}) {
      if (!part.empty()) absl::StrAppend(&text, ",", part);
    }
    const uint64_t seed = random();
    const auto parsed = ParsePacketOptions(text);
    if (!parsed.ok()) continue;  // options that exclude each other
    FabricOptions o;
    o.Set(*parsed);
    // Other transports resend trimmed packets at once: into a slow port, only headers would pass, forever.
    if (o.Get<PacketOptions>().trim && !KindOf(o.Get<PacketOptions>().transport).trims) continue;
    if (!MakeFabric("packet", t, o).ok()) continue;
    ++accepted;
    std::mt19937_64 flow_random(seed);
    const std::vector<TimedFlow> flows = RandomFlows(t.devices(), 24, 120000, &flow_random);
    // In every third run, links lose up to 3 % of their packets.
    for (uint32_t link = 0; seed % 3 == 0 && link < t.links(); ++link) {
      o.changes.push_back({Time::Zero(), link, 1, static_cast<double>(flow_random() % 31) / 1000});
    }
    const PacketRun run(t, o, flows);
    SCOPED_TRACE(absl::StrCat(i, ": ", text, " on ", t.devices(), " devices, ", t.dimensions()[0].name));
    EXPECT_EQ(run.fabric->WhyStuck(), "");
    ExpectAllReceived(flows, run.ended);
    ExpectQuiet(*run.fabric, o);
    ExpectConserved(run, o, flows);
    EXPECT_TRUE(!o.Get<PacketOptions>().Lossless() || run.counters().drops == 0);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(accepted, 100);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
