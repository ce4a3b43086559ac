#include "backends/analytical/fifo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "fabric_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using Kind = TopologyDimension::Kind;

Time Last(const std::vector<FlowEnd>& ended) { return ended.empty() ? Time::Picos(-1) : ended.back().at; }

// 50 GB/s: 50,000 B take 1 us.
TEST(Fifo, IncastQueuesAtTheReceiver) {
  for (int k = 1; k <= 7; ++k) {
    auto fabric = NewFabric("analytical-fifo", MakeTopology({MakeDim(Kind::kSwitch, 8)}));
    std::vector<TimedFlow> flows;
    for (int s = 1; s <= k; ++s)
      flows.push_back({Message(s, 0, 50000, static_cast<uint64_t>(s), true), Time::Zero()});
    const auto ended = Drive(fabric.get(), flows);
    for (int s = 1; s <= k; ++s) {
      EXPECT_EQ(ReceivedAt(ended, static_cast<uint64_t>(s)), Time::Nanos(1000 * s + 1000));
      EXPECT_EQ(ReceivedAt(ended, static_cast<uint64_t>(s), FlowEnd::kSent), Time::Nanos(1000));
    }
  }
}

TEST(Fifo, RingNeighboursShareNoLink) {
  auto fabric = NewFabric("analytical-fifo", MakeTopology({MakeDim(Kind::kRing, 16)}));
  std::vector<TimedFlow> flows;
  for (int r = 0; r < 16; ++r) flows.push_back({Message(r, (r + 1) % 16, 50000), Time::Zero()});
  for (const FlowEnd& e : Drive(fabric.get(), flows)) EXPECT_EQ(e.at, Time::Nanos(1500));
}

TEST(Fifo, SwitchAllToAllIsBoundByPorts) {
  // Each rank sends to the next, then the one after, ...: both ports are always busy.
  for (int n : {2, 5, 8}) {
    auto fabric = NewFabric("analytical-fifo", MakeTopology({MakeDim(Kind::kSwitch, n)}));
    std::vector<TimedFlow> flows;
    for (int k = 1; k < n; ++k) {
      for (int r = 0; r < n; ++r) flows.push_back({Message(r, (r + k) % n, 50000), Time::Zero()});
    }
    EXPECT_EQ(Last(Drive(fabric.get(), flows)), Time::Nanos(1000 * (n - 1) + 1000));
  }
}

// ASTRA-sim's congestion-aware back end, 64 ranks, 1 MiB in 4 splits, store and forward: each split takes
// 500 + 63 * 76 + 576 ns, and 20 ns of end-point delay.
TEST(Fifo, SwitchAllToAllMatchesAstraSim) {
  const TopologyDimension dim{Kind::kSwitch, 64, Bandwidth::BytesPerSecond(int64_t{50} << 30),
                              Time::Nanos(500), "d"};
  const Topology topology = MakeTopology({dim});
  auto fabric = NewFabric("analytical-fifo", topology, true);
  std::vector<TimedFlow> flows;
  for (int k = 1; k < 64; ++k) {
    for (int r = 0; r < 64; ++r) flows.push_back({Message(r, (r + k) % 64, 4096), Time::Zero()});
  }
  const Time tx = TransferTime(4096, dim.bandwidth);  // 76,294 ps, which ASTRA-sim cuts to 76 ns
  EXPECT_EQ(tx.picos() / 1000, 76);
  EXPECT_EQ(Last(Drive(fabric.get(), flows)), Time::Nanos(1000) + tx * 64);
}

TEST(Fifo, FullMeshPairsShareNoLink) {
  auto fabric = NewFabric("analytical-fifo", MakeTopology({MakeDim(Kind::kFullyConnected, 6)}));
  std::vector<TimedFlow> flows;
  for (int a = 0; a < 6; ++a) {
    for (int b = 0; b < 6; ++b) {
      if (a != b) flows.push_back({Message(a, b, 50000), Time::Zero()});
    }
  }
  for (const FlowEnd& e : Drive(fabric.get(), flows)) EXPECT_EQ(e.at, Time::Nanos(1500));
}

TEST(Fifo, RingTiesGoUpwards) {
  // 0 -> 2 of 4 takes links 0-1 and 1-2, so 1 -> 2 waits for it; 3 -> 2 does not.
  auto fabric = NewFabric("analytical-fifo", MakeTopology({MakeDim(Kind::kRing, 4)}));
  const auto ended = Drive(fabric.get(), {{Message(0, 2, 50000, 1), Time::Zero()},
                                          {Message(1, 2, 50000, 2), Time::Nanos(600)},
                                          {Message(3, 2, 50000, 3), Time::Nanos(600)}});
  EXPECT_EQ(ReceivedAt(ended, 1), Time::Nanos(2000));
  EXPECT_EQ(ReceivedAt(ended, 2), Time::Nanos(500 + 1000 + 1000 + 500));
  EXPECT_EQ(ReceivedAt(ended, 3), Time::Nanos(600 + 1500));
}

TEST(Fifo, TiesAreServedInOrderOfStart) {
  auto fabric = NewFabric("analytical-fifo", MakeTopology({MakeDim(Kind::kSwitch, 4)}));
  const auto ended = Drive(fabric.get(), {{Message(3, 0, 50000, 3), Time::Zero()},
                                          {Message(1, 0, 50000, 1), Time::Zero()},
                                          {Message(2, 0, 50000, 2), Time::Zero()}});
  ASSERT_EQ(ended.size(), 3u);
  EXPECT_EQ(ended[0].tag, 3u);
  EXPECT_EQ(ended[1].tag, 1u);
  EXPECT_EQ(ended[2].tag, 2u);
}

TEST(Fifo, PathsAcrossTwoDimensionsShareTheUplink) {
  // Pairs of ranks (0 and 1, ...) are full meshes at 50 GB/s; switches at 25 GB/s join the four pairs.
  auto fabric = NewFabric("analytical-fifo", MakeTopology({MakeDim(Kind::kFullyConnected, 2, 50, 100),
                                                           MakeDim(Kind::kSwitch, 4, 25, 500)}));
  // 1 -> 6 takes the mesh from 1 to 0, then the switch; 0 -> 4 waits for the same uplink.
  const auto ended = Drive(fabric.get(), {{Message(1, 6, 50000, 1, true), Time::Zero()},
                                          {Message(0, 4, 50000, 2, true), Time::Nanos(200)}});
  EXPECT_EQ(ReceivedAt(ended, 1, FlowEnd::kSent), Time::Nanos(2000));  // as fast as the uplink takes it
  EXPECT_EQ(ReceivedAt(ended, 1), Time::Nanos(100 + 1000 + 2000));
  EXPECT_EQ(ReceivedAt(ended, 2, FlowEnd::kSent), Time::Nanos(100 + 2000 + 2000));
  EXPECT_EQ(ReceivedAt(ended, 2), Time::Nanos(4100 + 1000));
}

TEST(Fifo, LateStartQueuesBehindEarlierArrivals) {
  // Without AdvanceTo() between the starts, message 1 still takes the link from 1 to 2 at 500 ns.
  auto fabric = NewFabric("analytical-fifo", MakeTopology({MakeDim(Kind::kRing, 4)}));
  fabric->Start(Message(0, 2, 50000, 1), Time::Zero());
  fabric->Start(Message(1, 1, 8, 9), Time::Nanos(100));
  fabric->Start(Message(1, 2, 50000, 2), Time::Nanos(600));
  EXPECT_EQ(fabric->NextEvent(), Time::Nanos(100));  // message 9 has ended, but is not reported yet
  std::vector<FlowEnd> ended;
  fabric->AdvanceTo(Time::Nanos(10000), &ended);
  ASSERT_EQ(ended.size(), 3u);
  EXPECT_EQ(ended[0].tag, 9u);
  EXPECT_EQ(ended[2].tag, 2u);
  EXPECT_EQ(ended[2].at, Time::Nanos(3000));
  EXPECT_EQ(fabric->NextEvent(), Time::Never());
}

TopologyDimension RandomDim(std::mt19937_64* random, int max_size) {
  const auto kind = static_cast<Kind>((*random)() % 3);
  return {kind, 1 + static_cast<int>((*random)() % static_cast<uint64_t>(max_size)),
          Bandwidth::BytesPerSecond(1 + static_cast<int64_t>((*random)() % 100000000000)),
          Time::Picos((*random)() % 3 == 0 ? 0 : static_cast<int64_t>((*random)() % 1000000)), "d"};
}

TEST(Fifo, IsolatedMessageMatchesAnalytical) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 3000; ++i) {
    std::vector<TopologyDimension> dims;
    for (uint64_t d = 0; d <= random() % 4; ++d) dims.push_back(RandomDim(&random, 6));
    const Topology topology = MakeTopology(dims);
    const auto devices = static_cast<uint64_t>(topology.devices());
    const Flow flow = Message(static_cast<int>(random() % devices), static_cast<int>(random() % devices),
                              random() % 10 == 0 ? 0 : random() % (1 << 24), 1, true);
    const bool store_and_forward = random() % 2 == 0;
    auto plain = NewFabric("analytical", topology, store_and_forward);
    auto fifo = NewFabric("analytical-fifo", topology, store_and_forward);
    const auto a = Drive(plain.get(), {{flow, Time::Nanos(7)}});
    const auto b = Drive(fifo.get(), {{flow, Time::Nanos(7)}});
    ASSERT_EQ(a.size(), 2u);
    ASSERT_EQ(b.size(), 2u);
    for (size_t k = 0; k < 2; ++k) {
      ASSERT_EQ(a[k].at, b[k].at);
      ASSERT_EQ(a[k].kind, b[k].kind);
    }
    ASSERT_EQ(fifo->Cost(flow.src, flow.dst, flow.bytes).received(), a[1].at - Time::Nanos(7));
  }
}

// A slow, simple simulation: always takes the message whose next arrival is the earliest.
std::vector<std::tuple<Time, uint64_t, int>> Reference(const Topology& topology,
                                                       const std::vector<TimedFlow>& flows,
                                                       bool store_and_forward) {
  struct State {
    std::vector<Hop> path;
    size_t hop = 0;
    Time head, tail;
  };
  std::vector<State> states;
  std::vector<std::tuple<Time, uint64_t, int>> ends;
  for (size_t i = 0; i < flows.size(); ++i) {
    State s;
    topology.Path(flows[i].flow.src, flows[i].flow.dst, &s.path);
    s.head = s.tail = flows[i].at;
    if (s.path.empty()) {
      ends.emplace_back(s.head, i, 0);
      ends.emplace_back(s.head, i, 1);
    }
    states.push_back(s);
  }
  std::map<uint32_t, Time> link_free;
  for (;;) {
    size_t least = states.size();
    for (size_t i = 0; i < states.size(); ++i) {
      if (states[i].hop == states[i].path.size()) continue;
      if (least == states.size() || states[i].head < states[least].head) least = i;
    }
    if (least == states.size()) break;
    State& s = states[least];
    const Hop hop = s.path[s.hop];
    const TopologyDimension& d = topology.dimensions()[hop.dimension];
    const Time begin = std::max(s.head, link_free[hop.link]);
    const Time end = std::max(begin + TransferTime(flows[least].flow.bytes, d.bandwidth), s.tail);
    link_free[hop.link] = end;
    if (s.hop == 0) {
      Time narrowest;
      for (const Hop& h : s.path) {
        narrowest = std::max(
            narrowest, TransferTime(flows[least].flow.bytes, topology.dimensions()[h.dimension].bandwidth));
      }
      ends.emplace_back(store_and_forward ? end : std::max(end, flows[least].at + narrowest), least, 0);
    }
    s.tail = end + d.latency;
    s.head = store_and_forward ? s.tail : begin + d.latency;
    if (++s.hop == s.path.size()) ends.emplace_back(s.tail, least, 1);
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

TEST(Fifo, MatchesSlowReference) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::vector<TopologyDimension> dims;
    for (uint64_t d = 0; d <= random() % 3; ++d) dims.push_back(RandomDim(&random, 4));
    // Round numbers make ties.
    if (round % 2 == 0) {
      for (TopologyDimension& d : dims) {
        d.bandwidth = Bandwidth::FromGigabytes(1 << (random() % 3));
        d.latency = Time::Nanos(static_cast<int64_t>(random() % 3) * 100);
      }
    }
    const Topology topology = MakeTopology(dims);
    const auto devices = static_cast<uint64_t>(topology.devices());
    std::vector<TimedFlow> flows;
    Time at;
    for (uint64_t i = 0, n = 1 + random() % 30; i < n; ++i) {
      at += Time::Nanos(static_cast<int64_t>(random() % 3) * 50);
      flows.push_back({Message(static_cast<int>(random() % devices), static_cast<int>(random() % devices),
                               random() % 8 * 100, i, true),
                       at});
    }
    const bool store_and_forward = random() % 2 == 0;
    const auto expected = Reference(topology, flows, store_and_forward);
    auto fabric = NewFabric("analytical-fifo", topology, store_and_forward);
    const auto ended = Drive(fabric.get(), flows);
    ASSERT_EQ(ended.size(), expected.size()) << round;
    for (size_t i = 0; i < ended.size(); ++i) {
      const auto [when, tag, kind] = expected[i];
      ASSERT_EQ(ended[i].at, when) << round << " " << i;
      ASSERT_EQ(ended[i].tag, tag) << round << " " << i;
      ASSERT_EQ(static_cast<int>(ended[i].kind), kind) << round << " " << i;
    }
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
