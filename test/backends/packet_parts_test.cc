// Event loops and their mailboxes, and a whole packet simulation that is driven directly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "backends/packet/events/event_loop.h"
#include "backends/packet/parts/sim.h"
#include "test/backends/packet_testing.h"
#include "test/backends/packet_ways_testing.h"

namespace chakra::packet::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

TEST(EventLoop, MailboxesOpenInTheNextWindow) {
  EventLoop<HeapEvents> first(0, 2), second(1, 2);
  first.PostTo(0, 10, PacketEvent::kFree, 1, 0);
  EXPECT_EQ(first.events().at(), 10) << "its own";
  first.PostTo(1, 30, PacketEvent::kArrive, 2, 7);
  first.PostTo(1, 20, PacketEvent::kArrive, 3, 8);
  EXPECT_EQ(first.mailbox().parts, 2u);
  EXPECT_EQ(first.mailbox().first, 20);
  EXPECT_THAT(first.MessagesBefore(first.window(), 1), IsEmpty());
  second.BeginWindow(1, 20);
  first.BeginWindow(1, 20);
  EXPECT_THAT(first.mailbox().to[1], IsEmpty());
  const std::vector<PacketEvent>& mailbox = first.MessagesBefore(second.window(), second.part());
  ASSERT_EQ(mailbox.size(), 2u);
  EXPECT_EQ(mailbox[0].argument, 7u);
  EXPECT_EQ(mailbox[1].at, 20);
  // Two windows later the mailbox is empty, and used again.
  first.BeginWindow(2, 40);
  EXPECT_THAT(first.mailbox().to[1], IsEmpty());
}

// A simulation of a topology, with the topology's own paths.
struct Simulation {
  explicit Simulation(const Topology& t, PacketOptions options = PacketOptions(), int threads = 1)
      : topology(t),
        network(topology, options),
        sim(&network, options, false, threads),
        finder(&network, &sim.ways()) {}
  void Send(int from, int to, uint64_t packets, uint64_t tag, int64_t now = 0) {
    const uint32_t m = sim.NewMessage();
    packet::Message& message = sim.message(m);
    message.tag = message.order = tag;
    message.packets = packets;
    message.bytes = packets * sim.options().mtu;
    message.connection = sim.Connect(from, to, tag, 1, sim.ways().AddPair());
    sim.Send(m, now);
  }
  std::vector<std::pair<uint64_t, int64_t>> Told() {
    std::vector<std::pair<uint64_t, int64_t>> all;
    for (const auto& t : sim.told()) all.push_back({t.tag, t.at});
    sim.told().clear();
    return all;
  }

  Topology topology;
  PacketNetwork network;
  PacketSim<BucketEvents> sim;
  TopologyWays finder;
};

PacketOptions Plain() {
  PacketOptions o;
  o.mtu = 1000;
  o.header = 0;
  o.ack = 100;
  return o;
}

TEST(PacketSim, ReportsEndsOfMessages) {
  Simulation s(Line({1, 1}, Time::Micros(1)), Plain());
  s.Send(0, 1, 2, 5);
  s.sim.TellAt(6, 6, Time::Nanos(1));
  EXPECT_EQ(s.sim.open_messages(), 2u);
  s.sim.Run(kNever - 1, true, kNever - 1);
  EXPECT_THAT(s.Told(), ElementsAre(Pair(6, 1000))) << "no further than the first that is told";
  s.sim.Run(kNever - 1, false, kNever - 1);
  // The second packet leaves a microsecond after the first.
  EXPECT_THAT(s.Told(), ElementsAre(Pair(5, Time::Micros(5).picos())));
  EXPECT_EQ(s.sim.open_messages(), 0u);
  EXPECT_TRUE(s.sim.Quiet());
  const PacketTotals totals = s.sim.counters();
  EXPECT_EQ(totals.packets, 2u);
  EXPECT_EQ(totals.acks, 2u);
  EXPECT_EQ(totals.hops, 8u);
  EXPECT_EQ(totals.drops + totals.again + totals.timeouts, 0u);
}

TEST(PacketSim, StopsAtItsLimit) {
  Simulation s(Line({1, 1}, Time::Micros(1)), Plain());
  s.Send(0, 1, 1, 5);
  s.sim.Run(Time::Micros(3).picos(), false, Time::Micros(3).picos());
  EXPECT_THAT(s.Told(), IsEmpty());
  EXPECT_EQ(s.sim.at(), Time::Micros(4).picos());
  EXPECT_FALSE(s.sim.Quiet());
  EXPECT_EQ(s.sim.WhyStuck(), "1 messages are not delivered");
}

TEST(PacketSim, PartsAndThreadsGiveTheSameEnds) {
  std::vector<std::pair<uint64_t, int64_t>> first;
  for (const int threads : {1, 2, 3}) {
    Simulation s(OfNetwork("leaf_spine:leaves=8,hosts_per_leaf=2,spines=4"), Plain(), threads);
    ASSERT_GT(s.network.parts(), 0u);
    for (int i = 0; i < 16; ++i) s.Send(i, (i * 5 + 3) % 16, 50, static_cast<uint64_t>(i));
    s.sim.Run(kNever - 1, false, kNever - 1);
    const auto told = s.Told();
    EXPECT_EQ(told.size(), 16u);
    if (threads == 1) first = told;
    EXPECT_EQ(told, first) << threads << " threads";
    EXPECT_EQ(s.sim.counters().packets, 800u);
    EXPECT_TRUE(s.sim.Quiet());
  }
}

TEST(PacketSim, CutPacketsAreNotSent) {
  Simulation s(Line({1, 1}, Time::Micros(1)), Plain());
  s.Send(0, 1, 100, 5);
  s.sim.Run(Time::Micros(10).picos(), false, Time::Micros(10).picos());
  s.sim.Cut(0, 80);
  s.sim.Run(kNever - 1, false, kNever - 1);
  EXPECT_THAT(s.Told(), ElementsAre(Pair(5, Time::Micros(23).picos())));
  EXPECT_EQ(s.sim.counters().packets, 20u);
}

}  // namespace
}  // namespace chakra::packet::CHAKRA_FILE
