// The parts of the two ends of a connection, each by itself: messages, receivers, recovery, and senders over
// fake ports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "backends/packet/ends/go_back_n.h"
#include "backends/packet/ends/messages.h"
#include "backends/packet/ends/receivers.h"
#include "backends/packet/ends/selective.h"
#include "backends/packet/ends/senders_impl.h"
#include "test/backends/packet_testing.h"
#include "test/backends/packet_ways_testing.h"

namespace chakra::packet::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Answer = Receivers::Answer;

// Packets of 1,000 B without headers.
PacketOptions Plain() {
  PacketOptions o;
  o.mtu = 1000;
  o.header = 0;
  return o;
}

uint32_t NewMessage(Messages* messages, uint64_t packets, uint32_t connection = 0) {
  const uint32_t m = messages->New();
  (*messages)[m].packets = packets;
  (*messages)[m].bytes = packets * 1000;
  (*messages)[m].connection = connection;
  return m;
}

TEST(Messages, ReusesNumbersAfterBothEndsFinish) {
  Messages messages;
  const uint32_t a = messages.New(), b = messages.New();
  messages[a].tag = 7;
  EXPECT_EQ(messages.open(), 2u);
  messages.Tell(a, FlowEnd::kSent, 5);
  messages.Tell(a, FlowEnd::kReceived, 10);
  EXPECT_EQ(messages.open(), 1u);
  EXPECT_EQ(messages.New(), 2u) << "its sender does not know";
  messages.Acknowledge(a);
  EXPECT_EQ(messages.New(), a);
  EXPECT_EQ(messages[a].tag, 0u);
  messages.Acknowledge(b);
  messages.Tell(b, FlowEnd::kReceived, 11);
  EXPECT_EQ(messages.New(), b);
  ASSERT_EQ(messages.told().size(), 3u);
  EXPECT_EQ(messages.told()[1].tag, 7u);
  EXPECT_EQ(messages.told()[1].at, 10);
}

TEST(Messages, LastPacketCarriesTheRest) {
  Message m;
  m.packets = 3;
  m.bytes = 2300;
  EXPECT_EQ(m.Payload(1, 1000), 1000u);
  EXPECT_EQ(m.Payload(2, 1000), 300u);
}

TEST(Sender, CountsUnsentPacketsPerMessage) {
  Messages messages;
  Sender s;
  const uint32_t a = NewMessage(&messages, 4), b = NewMessage(&messages, 2);
  s.Append(a, &messages);
  s.Append(b, &messages);
  s.next = 3;
  EXPECT_EQ(s.Unsent(a, messages), 1u);
  EXPECT_EQ(s.Unsent(b, messages), 2u);
  s.next = 4;
  s.message = b;
  s.message_first = 4;
  EXPECT_EQ(s.Unsent(a, messages), 0u);
  s.acked = 4;
  s.DropAcknowledged(&messages);
  EXPECT_EQ(s.head, b);
  EXPECT_TRUE(messages[a].acknowledged);
  EXPECT_FALSE(messages[b].acknowledged);
}

struct Receiving {
  explicit Receiving(const PacketOptions& options) : receivers(options) { receivers.Begin(0); }
  Receivers::Taken Take(uint64_t number, uint8_t flags = 0, int64_t now = 0) {
    k = Packet();
    k.number = number;
    k.payload = 1000;
    k.flags = flags;
    return receivers.Take(&k, now);
  }
  Receivers receivers;
  Packet k;
};

TEST(Receivers, InOrderFollowsAckEvery) {
  PacketOptions o = Plain();
  o.ack_every = 2;
  Receiving r(o);
  EXPECT_EQ(r.Take(0).answer, Answer::kNone);
  EXPECT_EQ(r.Take(1).answer, Answer::kAck);
  r.receivers.Turn(&r.k, Answer::kAck, 0);
  EXPECT_EQ(r.k.kind, Packet::kAck);
  EXPECT_EQ(r.k.before, 2000u);
  EXPECT_EQ(r.Take(2, Packet::kMarked).answer, Answer::kAck) << "marks are told at once";
  r.receivers.Turn(&r.k, Answer::kAck, 0);
  EXPECT_EQ(r.Take(3, Packet::kLast).answer, Answer::kAck);
}

TEST(Receivers, InOrderLimitsTheRateOfNacks) {
  Receiving r(Plain());
  r.Take(0);
  Receivers::Taken taken = r.Take(2);
  EXPECT_FALSE(taken.is_new);
  EXPECT_EQ(taken.answer, Answer::kNack);
  EXPECT_EQ(r.k.number, 1u);
  EXPECT_EQ(r.Take(3, 0, 499'999'999).answer, Answer::kNone);
  EXPECT_EQ(r.Take(4, 0, 500'000'000).answer, Answer::kNack);
  EXPECT_EQ(r.Take(1, Packet::kTrimmed, 500'000'001).answer, Answer::kNone) << "its payload is missing";
  EXPECT_TRUE(r.Take(1).is_new);
  taken = r.Take(0);
  EXPECT_FALSE(taken.is_new);
  EXPECT_EQ(taken.answer, Answer::kAck);
  EXPECT_EQ(r.k.number, 1u) << "the last that has arrived";
}

TEST(Receivers, SelectiveTakesEachPacketOnce) {
  PacketOptions o = Plain();
  o.recovery = PacketOptions::Recovery::kSelective;
  Receiving r(o);
  std::vector<uint64_t> order;
  for (uint64_t i = 0; i < 300; ++i) order.push_back(i % 2 == 0 ? i / 2 + 150 : i / 2);
  for (const uint64_t number : order) {
    EXPECT_TRUE(r.Take(number).is_new) << number;
    EXPECT_FALSE(r.Take(number).is_new) << number;
  }
  r.receivers.Turn(&r.k, Answer::kAck, 0);
  EXPECT_EQ(r.k.before, 300u);
  EXPECT_EQ(r.Take(300, Packet::kTrimmed).answer, Answer::kNack);
}

// A message with all its packets in flight.
struct GoingBack {
  explicit GoingBack(uint64_t packets) : repair(&messages) {
    s.Append(NewMessage(&messages, packets), &messages);
    s.next = packets;
    s.sent_bytes = s.in_flight = packets * 1000;
    s.message = kNoIndex;
  }
  static Packet About(uint64_t number, uint64_t before) {
    Packet k;
    k.number = number;
    k.before = before;
    return k;
  }
  Messages messages;
  Sender s;
  GoBackN repair;
};

TEST(GoBackN, ResendsAllFromTheMissingPacket) {
  GoingBack g(10);
  Ack ack;
  EXPECT_TRUE(g.repair.OnAck(g.About(3, 4000), &g.s, &ack));
  EXPECT_EQ(ack.acked, 4000u);
  EXPECT_EQ(g.s.in_flight, 6000u);
  EXPECT_FALSE(g.repair.OnAck(g.About(2, 3000), &g.s, &ack));
  Loss loss;
  EXPECT_TRUE(g.repair.OnNack(g.About(6, 6000), &g.s, &loss));
  EXPECT_EQ(loss.packet, 6u);
  EXPECT_EQ(loss.bytes, 4000u);
  EXPECT_EQ(g.s.next, 6u);
  EXPECT_EQ(g.s.acked, 6u);
  EXPECT_EQ(g.s.message, g.s.head);
  EXPECT_EQ(g.s.in_flight, 0u);
  EXPECT_EQ(g.repair.again(), 4u);
  EXPECT_FALSE(g.repair.OnNack(g.About(5, 5000), &g.s, &loss)) << "that has arrived";
  // The acknowledgement of a packet that was still in flight.
  EXPECT_TRUE(g.repair.OnAck(g.About(9, 10000), &g.s, &ack));
  EXPECT_EQ(g.s.next, 10u);
  EXPECT_EQ(g.s.message, kNoIndex);
}

TEST(GoBackN, TimeoutResendsAllInFlight) {
  GoingBack g(5);
  Ack ack;
  g.repair.OnAck(g.About(0, 1000), &g.s, &ack);
  Loss loss;
  g.repair.OnTimeout(&g.s, &loss);
  EXPECT_EQ(loss.bytes, 4000u);
  EXPECT_EQ(g.s.next, 1u);
}

struct Repairing {
  explicit Repairing(uint64_t packets, PacketOptions options = Plain()) : repair(options, true) {
    repair.Begin(0);
    s.Append(NewMessage(&messages, packets), &messages);
    for (; s.next < packets; ++s.next) {
      Packet k;
      k.payload = 1000;
      repair.OnSent(0, s, k);
      s.in_flight += 1000;
    }
    s.message = kNoIndex;
  }
  uint64_t Acknowledge(uint64_t number, uint64_t before) {
    Packet k;
    k.number = number;
    k.before = before;
    Ack ack;
    repair.OnAck(0, k, &s, &ack);
    return ack.acked;
  }
  // Sends a lost packet again; returns its number.
  uint64_t Again() {
    Packet k;
    repair.TakeLost(0, &s, &k);
    s.in_flight += k.payload;
    return k.number;
  }
  Messages messages;
  Sender s;
  Selective repair;
};

TEST(Selective, ResendsOnlyOvertakenPackets) {
  Repairing r(10);
  for (const uint64_t n : {0, 1, 3, 4}) EXPECT_EQ(r.Acknowledge(n, std::min<uint64_t>(n + 1, 2)), 1000u);
  Loss loss;
  EXPECT_FALSE(r.repair.FindOvertaken(0, &r.s, &loss)) << "two packets later are not enough";
  EXPECT_EQ(r.Acknowledge(5, 2), 1000u);
  EXPECT_TRUE(r.repair.FindOvertaken(0, &r.s, &loss));
  EXPECT_EQ(loss.packet, 2u);
  EXPECT_EQ(loss.bytes, 1000u);
  EXPECT_EQ(r.s.lost, 1u);
  EXPECT_EQ(r.s.in_flight, 4000u);
  EXPECT_EQ(r.Again(), 2u);
  EXPECT_EQ(r.repair.again(), 1u);
  EXPECT_EQ(r.s.lost, 0u);
  EXPECT_EQ(r.Acknowledge(2, 6), 1000u);
  EXPECT_EQ(r.s.acked, 6u);
}

TEST(Selective, DetectsLossOfResentPackets) {
  Repairing r(6);
  for (const uint64_t n : {1, 2, 3}) r.Acknowledge(n, 0);
  Loss loss;
  ASSERT_TRUE(r.repair.FindOvertaken(0, &r.s, &loss));
  ASSERT_EQ(r.Again(), 0u);
  for (int i = 0; i < 5; ++i) {
    Packet k;
    k.payload = 1000;
    r.repair.OnSent(0, r.s, k);
    ++r.s.next;
    r.s.in_flight += 1000;
  }
  for (const uint64_t n : {4, 5, 6, 7, 8}) r.Acknowledge(n, 0);
  loss = Loss();
  EXPECT_FALSE(r.repair.FindOvertaken(0, &r.s, &loss));
  r.Acknowledge(9, 0);
  EXPECT_TRUE(r.repair.FindOvertaken(0, &r.s, &loss));
  EXPECT_EQ(loss.packet, 0u);
  EXPECT_EQ(r.Again(), 0u);
}

TEST(Selective, CountsTrimmedPacketsOnce) {
  Repairing r(4);
  Packet k;
  k.number = 1;
  Loss loss;
  EXPECT_TRUE(r.repair.OnNack(0, k, &r.s, &loss));
  EXPECT_EQ(loss.bytes, 1000u);
  loss = Loss();
  EXPECT_FALSE(r.repair.OnNack(0, k, &r.s, &loss));
  r.repair.OnTimeout(0, &r.s, &loss);
  EXPECT_EQ(loss.bytes, 3000u);
  EXPECT_EQ(r.s.lost, 4u);
  for (const uint64_t n : {0, 1, 2, 3}) EXPECT_EQ(r.Again(), n);
}

struct FakePorts {
  void Kick(uint32_t port) { kicked.push_back(port); }
  std::vector<uint32_t> kicked;
};

// Senders of device 0 to device 1, on a line of links.
struct Sending {
  explicit Sending(const PacketOptions& options, bool lossy = false)
      : topology(Line({1, 1}, Time::Micros(1))),
        network(topology, options),
        ways(&network, options),
        finder(&network, &ways),
        event_loop(0, 0),
        senders(&network, &pool, &ways, &messages, options, lossy, &event_loop, &ports) {
    connection = senders.Open(1, 0, 1, 1, ways.AddPair());
  }
  // Takes all packets that may leave now; returns their numbers.
  std::vector<uint64_t> Take() {
    std::vector<uint64_t> numbers;
    for (uint32_t i = senders.TakeFromRing(0, 1); i != kNoIndex; i = senders.TakeFromRing(0, 1)) {
      numbers.push_back(pool[i].number);
    }
    return numbers;
  }
  void Acknowledge(uint64_t number) {
    Packet k;
    k.kind = Packet::kAck;
    k.number = number;
    k.before = (number + 1) * 1000;
    senders.OnAnswer(connection, k);
    senders.MayBeReady(connection);
  }
  // Runs the next event.
  void Step() {
    ASSERT_TRUE(event_loop.events().HasUpTo(std::numeric_limits<int64_t>::max() - 1));
    const PacketEvent e = event_loop.events().Pop();
    event_loop.set_now(e.at);
    if (e.kind() == PacketEvent::kPace) senders.OnPace(e.index(), e.argument);
    if (e.kind() == PacketEvent::kTimeout) senders.OnTimeout(e.index(), e.argument);
    if (e.kind() == PacketEvent::kTimer) senders.OnTimer(e.index(), e.argument);
  }

  Topology topology;
  PacketNetwork network;
  PacketPool pool;
  Ways ways;
  TopologyWays finder;
  Messages messages;
  EventLoop<HeapEvents> event_loop;
  FakePorts ports;
  Senders<HeapEvents, FakePorts> senders;
  uint32_t connection;
};

PacketOptions WithWindow(int packets) {
  PacketOptions o = Plain();
  FixedWindow::Config window;
  window.bytes = packets * 1000;
  o.transport = window;
  return o;
}

TEST(Senders, SendUpToTheWindow) {
  Sending s(WithWindow(3));
  s.senders.Send(NewMessage(&s.messages, 5, s.connection));
  EXPECT_THAT(s.ports.kicked, ElementsAre(0));
  EXPECT_THAT(s.Take(), ElementsAre(0, 1, 2));
  EXPECT_EQ(s.network.port(0).ready, 0);
  s.Acknowledge(0);
  EXPECT_THAT(s.Take(), ElementsAre(3));
  s.Acknowledge(3);
  EXPECT_THAT(s.Take(), ElementsAre(4));
  EXPECT_FALSE(s.senders.Idle(s.connection));
  s.Acknowledge(4);
  EXPECT_TRUE(s.senders.Idle(s.connection));
  EXPECT_EQ(s.senders.packets(), 5u);
  EXPECT_EQ(s.senders.open(), 1u);
  s.senders.Close(s.connection);
  EXPECT_EQ(s.senders.open(), 0u);
}

TEST(Senders, ConnectionsOfAPortTakeTurns) {
  Sending s(WithWindow(2));
  const uint32_t other = s.senders.Open(2, 0, 1, 1, s.ways.AddPair());
  s.senders.Send(NewMessage(&s.messages, 4, s.connection));
  s.senders.Send(NewMessage(&s.messages, 4, other));
  std::vector<uint32_t> of;
  for (uint32_t i = s.senders.TakeFromRing(0, 1); i != kNoIndex; i = s.senders.TakeFromRing(0, 1)) {
    of.push_back(s.pool[i].connection);
  }
  EXPECT_THAT(of, ElementsAre(s.connection, other, s.connection, other));
}

TEST(Senders, ResendAfterTimeouts) {
  PacketOptions o = WithWindow(3);
  o.timeout = Time::Micros(10);
  Sending s(o, true);
  s.senders.Send(NewMessage(&s.messages, 3, s.connection));
  EXPECT_THAT(s.Take(), ElementsAre(0, 1, 2));
  s.event_loop.set_now(Time::Micros(4).picos());
  s.Acknowledge(0);  // puts the timeout off
  s.Step();
  EXPECT_EQ(s.event_loop.now(), Time::Micros(10).picos());
  EXPECT_THAT(s.Take(), IsEmpty());
  s.Step();
  EXPECT_EQ(s.event_loop.now(), Time::Micros(14).picos());
  EXPECT_EQ(s.senders.timeouts(), 1u);
  EXPECT_THAT(s.Take(), ElementsAre(1, 2));
  EXPECT_EQ(s.senders.again(), 2u);
}

TEST(Senders, CutOffConnectionsWaitForRoutes) {
  Sending s(WithWindow(3));
  s.finder.found = false;
  const uint32_t lost = s.senders.Open(2, 0, 1, 1, s.ways.AddPair());
  s.senders.Send(NewMessage(&s.messages, 2, lost));
  EXPECT_THAT(s.Take(), IsEmpty());
  EXPECT_THAT(s.senders.cut_off(), ElementsAre(lost));
  s.senders.Reroute();
  EXPECT_THAT(s.senders.cut_off(), ElementsAre(lost));
  s.finder.found = true;
  s.senders.Reroute();
  EXPECT_THAT(s.senders.cut_off(), IsEmpty());
  EXPECT_THAT(s.Take(), ElementsAre(0, 1));
}

}  // namespace
}  // namespace chakra::packet::CHAKRA_FILE
