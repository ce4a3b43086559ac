// Ports and switches between fake ends: queues, turns, buffers, pauses, marks, losses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "backends/packet/parts/deadlock.h"
#include "backends/packet/ports/buffers.h"
#include "backends/packet/ports/chance.h"
#include "backends/packet/ports/ports.h"
#include "backends/packet/ports/ports_impl.h"
#include "backends/packet/ports/turns.h"
#include "test/backends/packet_testing.h"
#include "test/backends/packet_ways_testing.h"

namespace chakra::packet::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// Packets of 1,000 B without headers.
PacketOptions Plain() {
  PacketOptions o;
  o.mtu = 1000;
  o.header = 0;
  return o;
}

struct FakeEnds {
  void Deliver(uint32_t packet) { delivered.push_back({event_loop->now() / 1000, packet}); }
  uint32_t TakeFromRing(uint32_t port, uint8_t traffic_class) {
    if (to_send.empty()) {
      network->port(port).ready &= static_cast<uint8_t>(~(1u << traffic_class));
      return kNoIndex;
    }
    const uint32_t packet = to_send.front();
    to_send.pop_front();
    return packet;
  }
  EventLoop<HeapEvents>* event_loop;
  PacketNetwork* network;
  std::vector<std::pair<int64_t, uint32_t>> delivered;  // ns, packet
  std::deque<uint32_t> to_send;
};

// The ports of a topology, and packets on paths between its devices.
struct Switching {
  explicit Switching(const Topology& t, const PacketOptions& options = Plain(), bool may_fail = false)
      : topology(t),
        network(topology, options),
        ways(&network, nullptr),
        event_loop(0, 0),
        ends{&event_loop, &network, {}, {}},
        ports(&network, &pool, &paths, options, may_fail, &event_loop, &ends) {}

  // Makes a data packet at the beginning of a path; returns its number.
  uint32_t Packet(int from, int to, uint8_t traffic_class = 1, uint32_t bytes = 1000) {
    const uint32_t i = pool.Take();
    packet::Packet& k = pool[i];
    std::tie(k.ports, k.hops) = ways.AddPath(from, to, &paths);
    k.bytes = bytes;
    k.traffic_class = traffic_class;
    return i;
  }
  uint32_t PortOf(uint32_t packet, uint32_t hop) const { return paths[pool[packet].ports + hop]; }
  void Send(uint32_t packet) { ports.Enqueue(PortOf(packet, 0), packet, kNoIndex); }
  void Run(int64_t until_ns = std::numeric_limits<int64_t>::max() / 1000) {
    while (event_loop.events().HasUpTo(until_ns * 1000)) {
      const PacketEvent e = event_loop.events().Pop();
      event_loop.set_now(e.at);
      if (e.kind() == PacketEvent::kArrive) ports.OnArrival(e.index(), e.argument);
      if (e.kind() == PacketEvent::kSignal) ports.OnSignal(e.index(), e.argument);
      if (e.kind() == PacketEvent::kFree) ports.OnFree(e.index());
    }
  }
  PacketTotals Totals() {
    PacketTotals totals;
    ports.Settle(&totals);
    return totals;
  }

  Topology topology;
  PacketNetwork network;
  TopologyWays ways;
  PacketPool pool;
  PathTable paths;
  EventLoop<HeapEvents> event_loop;
  FakeEnds ends;
  Ports<HeapEvents, FakeEnds> ports;
};

TEST(Ports, PacketPaysTransferAndLatencyPerLink) {
  Switching s(Line({1, 2}, Time::Micros(1)));
  s.Send(s.Packet(0, 1));
  s.Run();
  EXPECT_THAT(s.ends.delivered, ElementsAre(Pair(1000 + 1000 + 500 + 1000, 0)));
  EXPECT_EQ(s.Totals().hops, 2u);
}

TEST(Ports, CutThroughForwardsAfterTheHeader) {
  PacketOptions o = Plain();
  o.cut_through = true;
  o.header = 100;
  Switching s(Line({2, 1}, Time::Micros(1)), o);
  s.Send(s.Packet(0, 1));
  s.Run();
  EXPECT_THAT(s.ends.delivered, ElementsAre(Pair(50 + 1000 + 1000 + 1000, 0)));
}

TEST(Ports, ControlPassesDataInOrder) {
  Switching s(Line({10, 1}, Time::Micros(1)));
  const uint32_t first = s.Packet(0, 1), second = s.Packet(0, 1);
  const uint32_t control = s.Packet(0, 1, PacketOptions::kControlClass, 100), third = s.Packet(0, 1);
  for (const uint32_t k : {first, second, control, third}) s.Send(k);
  s.Run();
  // The first packet has started to leave when the control packet comes.
  EXPECT_THAT(s.ends.delivered,
              ElementsAre(Pair(3100, first), Pair(3200, control), Pair(4200, second), Pair(5200, third)));
  const uint32_t out = s.PortOf(first, 1);
  EXPECT_EQ(s.network.backlog(out).bytes, 0u);
  EXPECT_EQ(s.network.backlog(out).most, 2100u);
}

TEST(Ports, OwnAndForwardedPacketsTakeTurns) {
  Switching s(Line({1, 1}, Time::Zero()));
  std::vector<uint32_t> passes, begins;
  for (int i = 0; i < 2; ++i) passes.push_back(s.Packet(0, 1));
  for (int i = 0; i < 2; ++i) begins.push_back(s.Packet(0, 1));
  const uint32_t port = s.PortOf(passes[0], 0);
  s.Send(s.Packet(0, 1));  // occupies the port
  for (const uint32_t k : passes) s.Send(k);
  s.ends.to_send.assign(begins.begin(), begins.end());
  s.network.port(port).ready = 2;
  s.Run();
  std::vector<uint32_t> order;
  for (const auto& [at, k] : s.ends.delivered) order.push_back(k);
  EXPECT_THAT(order, ElementsAre(4, passes[0], begins[0], passes[1], begins[1]));
}

TEST(Ports, FullQueueDropsOrTrims) {
  for (const bool trim : {false, true}) {
    PacketOptions o = Plain();
    o.queue = 2000;
    o.trim = trim;
    o.header = 64;
    Switching s(Line({100, 1}, Time::Micros(1)), o);
    for (int i = 0; i < 5; ++i) s.Send(s.Packet(0, 1));
    s.Run();
    const PacketTotals totals = s.Totals();
    EXPECT_EQ(totals.drops, trim ? 0u : 2u);
    EXPECT_EQ(totals.trims, trim ? 2u : 0u);
    EXPECT_EQ(s.ends.delivered.size(), trim ? 5u : 3u);
    EXPECT_EQ(s.pool.in_flight(), s.ends.delivered.size());
    if (trim) {
      EXPECT_EQ(s.pool[s.ends.delivered[1].second].bytes, 64u) << "headers go first";
    }
  }
}

TEST(Ports, DownLinkLosesQueuedAndSentPackets) {
  Switching s(Line({100, 1}, Time::Micros(1)), Plain(), true);
  std::vector<uint32_t> sent;
  for (int i = 0; i < 3; ++i) sent.push_back(s.Packet(0, 1));
  for (const uint32_t k : sent) s.Send(k);
  s.Run(1500);
  const uint32_t out = s.PortOf(sent[0], 1);
  s.ports.ChangeLink(out, 0);
  EXPECT_EQ(s.network.info(out).drops, 2u);
  s.Run();
  EXPECT_EQ(s.network.info(out).cut_off, 1u);
  EXPECT_THAT(s.ends.delivered, IsEmpty());
  EXPECT_EQ(s.pool.in_flight(), 0u);
  s.ports.ChangeLink(out, 0.5);
  s.Send(s.Packet(0, 1));
  s.Run();
  EXPECT_EQ(s.ends.delivered.size(), 1u);
}

TEST(Ports, PausedPortKeepsItsPackets) {
  PacketOptions o = Plain();
  o.flow_control = PacketOptions::FlowControl::kPfc;
  o.buffer = 30000;
  o.alpha = 0.1;
  Switching s(Line({100, 1}, Time::Nanos(10)), o);
  std::vector<uint32_t> sent;
  for (int i = 0; i < 20; ++i) sent.push_back(s.Packet(0, 1));
  for (const uint32_t k : sent) s.Send(k);
  const uint32_t in = s.PortOf(sent[0], 0);
  bool paused = false;
  for (int64_t ns = 0; ns < 3000; ns += 5) {
    s.Run(ns);
    paused |= s.network.port(in).paused != 0;
  }
  EXPECT_TRUE(paused);
  s.Run();
  EXPECT_EQ(s.network.port(in).paused, 0);
  EXPECT_GT(s.network.info(in).pauses, 0u);
  EXPECT_GT(s.network.info(in).paused, 0u);
  EXPECT_EQ(s.ends.delivered.size(), 20u);
  EXPECT_EQ(s.Totals().drops, 0u);
}

TEST(Ports, CreditsLimitQueuedBytes) {
  PacketOptions o = Plain();
  o.flow_control = PacketOptions::FlowControl::kCredit;
  o.credit = 2000;
  Switching s(Line({100, 1}, Time::Nanos(10)), o);
  std::vector<uint32_t> sent;
  for (int i = 0; i < 6; ++i) sent.push_back(s.Packet(0, 1));
  for (const uint32_t k : sent) s.Send(k);
  const uint32_t out = s.PortOf(sent[0], 1);
  s.Run();
  EXPECT_EQ(s.ends.delivered.size(), 6u);
  EXPECT_LE(s.network.backlog(out).most, 2000u);
  EXPECT_EQ(s.network.credit(s.PortOf(sent[0], 0), 1).credit, 2000);
}

TEST(Buffers, QueueTakesItsShareOfTheFreeBuffer) {
  PacketOptions o = Plain();
  o.buffer = 10000;
  o.alpha = 0.5;
  Switching s(Line({1, 1}, Time::Zero()), o);
  const uint32_t in = s.PortOf(s.Packet(0, 1), 0);
  Buffers buffers(&s.network, o);
  Node node;
  node.is_switch = true;
  node.pool = 10000;
  auto ask = Buffers::Ask::kNothing;
  EXPECT_TRUE(buffers.Take(&node, in, 1, 1000, 4000, &ask));
  EXPECT_FALSE(buffers.Take(&node, in, 1, 1000, 4001, &ask));
  node.buffered = 8000;
  EXPECT_TRUE(buffers.Take(&node, in, 1, 1000, 0, &ask));
  EXPECT_FALSE(buffers.Take(&node, in, 1, 1000, 1, &ask));
}

TEST(Buffers, PausesAtXoffAndResumesBelow) {
  PacketOptions o = Plain();
  o.flow_control = PacketOptions::FlowControl::kPfc;
  o.buffer = 100000;
  o.headroom = 5000;
  o.alpha = 1;
  o.xoff.bytes = 4000;
  Switching s(Line({1, 1}, Time::Zero()), o);
  const uint32_t in = s.PortOf(s.Packet(0, 1), 0);
  Buffers buffers(&s.network, o);
  Node node;
  node.is_switch = true;
  node.pool = 100000;
  const auto take = [&] {
    auto ask = Buffers::Ask::kNothing;
    EXPECT_TRUE(buffers.Take(&node, in, 1, 1000, 0, &ask));
    return ask;
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(take(), Buffers::Ask::kNothing) << i;
  EXPECT_EQ(take(), Buffers::Ask::kPause) << "another packet would be above";
  EXPECT_EQ(take(), Buffers::Ask::kNothing) << "headroom";
  EXPECT_EQ(s.network.credit(in, 1).ingress, 4000u);
  EXPECT_EQ(s.network.credit(in, 1).ingress_headroom, 1000u);
  // The headroom empties first, then the rest, down to two packets below the threshold.
  for (int i = 0; i < 2; ++i) EXPECT_EQ(buffers.Give(&node, in, 1, 1000), Buffers::Ask::kNothing) << i;
  EXPECT_EQ(buffers.Give(&node, in, 1, 1000), Buffers::Ask::kResume);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(buffers.Give(&node, in, 1, 1000), Buffers::Ask::kNothing) << i;
  EXPECT_EQ(node.shared, 0u);
  auto ask = Buffers::Ask::kNothing;
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(buffers.Take(&node, in, 1, 1000, 0, &ask));
  EXPECT_FALSE(buffers.Take(&node, in, 1, 1000, 0, &ask)) << "no headroom is left";
}

TEST(NextClass, SharesAPortByWeights) {
  PacketOptions o = Plain();
  o.classes = 3;
  o.weights = {1, 3};
  Switching s(Line({1, 1}, Time::Zero()), o);
  const uint32_t port = s.PortOf(s.Packet(0, 1), 0);
  int of_first = 0;
  for (int i = 0; i < 400; ++i) {
    const uint32_t c = NextClass(&s.network, o, port, 6);
    s.network.credit(port, c).deficit -= 1000;
    of_first += c == 1 ? 1 : 0;
  }
  EXPECT_EQ(of_first, 100);
  EXPECT_EQ(NextClass(&s.network, o, port, 7), 0u) << "control";
  EXPECT_EQ(NextClass(&s.network, o, port, 2), 1u) << "alone";
}

TEST(NextClass, HeadersDoNotStarveData) {
  PacketOptions o = Plain();
  o.trim = true;
  Switching s(Line({1, 1}, Time::Zero()), o);
  const uint32_t port = s.PortOf(s.Packet(0, 1), 0);
  int of_data = 0;
  for (int i = 0; i < 110; ++i) of_data += NextClass(&s.network, o, port, 3) == 1 ? 1 : 0;
  EXPECT_EQ(of_data, 10);
}

TEST(Chance, MarksAndLossesFollowTheirProbabilities) {
  PacketOptions o = Plain();
  o.ecn_low.bytes = 1000;
  o.ecn_high.bytes = 3000;
  o.ecn_probability = 0.5;
  PortInfo info;
  const auto share = [&](uint64_t queued) {
    int marked = 0;
    for (uint64_t n = 0; n < 10000; ++n) marked += IsMarked(o, info, queued, n) ? 1 : 0;
    return marked / 10000.0;
  };
  EXPECT_EQ(share(1000), 0);
  EXPECT_NEAR(share(2000), 0.25, 0.02);
  EXPECT_NEAR(share(2999), 0.5, 0.02);
  EXPECT_EQ(share(3000), 1);
  info.loss = 0.1;
  int lost = 0;
  for (uint64_t n = 0; n < 10000; ++n) lost += IsLost(1, info, n) ? 1 : 0;
  EXPECT_NEAR(lost / 10000.0, 0.1, 0.01);
}

TEST(FindDeadlock, NamesThePortsOfACycle) {
  // A ring of switches: a packet waits at each port for the next one.
  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, 3);
  b.AddVertices("switch", VertexKind::kSwitch, 3, 1);
  const uint16_t c = b.AddClass({"link", Bandwidth::FromGigabytes(1), Time::Zero()});
  for (uint32_t i = 0; i < 3; ++i) {
    b.AddLink(i, 3 + i, c);
    b.AddLink(3 + i, 3 + (i + 1) % 3, c);
  }
  Switching s(OfGraph(std::move(b)));
  std::vector<uint32_t> ring;
  for (int i = 0; i < 3; ++i) ring.push_back(s.PortOf(s.Packet(i, (i + 1) % 3), 1));
  const auto wait = [&](size_t from, size_t at) {
    const uint32_t i = s.pool.Take();
    s.pool[i].ports = s.paths.size();
    s.pool[i].hop = 1;
    s.paths.Add(ring[from]);
    s.paths.Add(ring[at]);
    s.network.queue(ring[at], 1).head = i;
    s.network.port(ring[at]).waiting = 2;
  };
  wait(0, 1);
  wait(1, 2);
  EXPECT_EQ(FindDeadlock(s.network, s.pool, s.paths, ring, 2), "");
  wait(2, 0);
  EXPECT_THAT(FindDeadlock(s.network, s.pool, s.paths, ring, 2),
              HasSubstr("deadlock: ports wait for each other in a cycle: "));
}

}  // namespace
}  // namespace chakra::packet::CHAKRA_FILE
