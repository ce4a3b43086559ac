#include "backends/analytical/analytical.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fabric_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using Kind = TopologyDimension::Kind;

// ASTRA-sim's GB/s is 2^30 bytes in 1e9 ns.
TopologyDimension Astra(Kind kind, int size) {
  return {kind, size, Bandwidth::BytesPerSecond(int64_t{50} << 30), Time::Nanos(500), "astra"};
}

TEST(Analytical, MessageTimeMatchesAstraSim) {
  auto fabric = NewFabric("analytical", MakeTopology({Astra(Kind::kRing, 2)}));
  const auto ended = Drive(fabric.get(), {{Message(0, 1, 1 << 20), Time::Zero()}});
  // 500 ns + 2^20 / (50 * 2^30) s = 500 ns + 19,531.25 ns; ASTRA-sim cuts to 20,031.
  EXPECT_EQ(ReceivedAt(ended, 0), Time::Picos(20031250));
}

TEST(Analytical, SwitchAllToAllMatchesAstraSim) {
  // Per split of 64 ranks, 1 MiB in 4 splits: 1000 + 76 ns (4,384 = 4 * (1000 + 76 + 20)).
  auto fabric = NewFabric("analytical", MakeTopology({Astra(Kind::kSwitch, 64)}));
  std::vector<TimedFlow> flows;
  for (int s = 0; s < 64; ++s) {
    for (int d = 0; d < 64; ++d) {
      if (s != d) flows.push_back({Message(s, d, (1 << 20) / 4 / 64), Time::Zero()});
    }
  }
  const auto ended = Drive(fabric.get(), flows);
  ASSERT_EQ(ended.size(), 64u * 63u);
  for (const FlowEnd& e : ended) EXPECT_EQ(e.at.picos() / 1000, 1076);
}

TEST(Analytical, PathTimeIsLatenciesPlusNarrowestLink) {
  auto fabric = NewFabric(
      "analytical", MakeTopology({MakeDim(Kind::kRing, 4, 100, 10), MakeDim(Kind::kSwitch, 4, 25, 300)}));
  // 0 -> 6: two ring links, two switch links; 1000 B at 25 GB/s are 40 ns.
  const auto ended = Drive(fabric.get(), {{Message(0, 6, 1000, 7, true), Time::Nanos(5)}});
  EXPECT_EQ(ReceivedAt(ended, 7), Time::Nanos(5 + 20 + 600 + 40));
  EXPECT_EQ(ReceivedAt(ended, 7, FlowEnd::kSent), Time::Nanos(5 + 40));  // no faster than the path takes
  const FlowCost cost = fabric->Cost(0, 6, 1000);
  EXPECT_EQ(cost.latency, Time::Nanos(620));
  EXPECT_EQ(cost.transfer, Time::Nanos(40));
}

TEST(Analytical, StoreAndForwardAddsTransferPerLink) {
  auto fabric =
      NewFabric("analytical",
                MakeTopology({MakeDim(Kind::kRing, 4, 100, 10), MakeDim(Kind::kSwitch, 4, 25, 300)}), true);
  const auto ended = Drive(fabric.get(), {{Message(0, 6, 1000, 7), Time::Zero()}});
  EXPECT_EQ(ReceivedAt(ended, 7), Time::Nanos(620 + 2 * 10 + 2 * 40));
}

TEST(Analytical, MessagesToSelfAndWithoutBytes) {
  auto fabric = NewFabric("analytical", MakeTopology({MakeDim(Kind::kRing, 4)}));
  const auto ended = Drive(fabric.get(), {{Message(1, 1, 1 << 30, 1, true), Time::Nanos(3)},
                                          {Message(0, 1, 0, 2, true), Time::Nanos(3)}});
  ASSERT_EQ(ended.size(), 4u);
  EXPECT_EQ(ReceivedAt(ended, 1), Time::Nanos(3));
  EXPECT_EQ(ReceivedAt(ended, 1, FlowEnd::kSent), Time::Nanos(3));
  EXPECT_EQ(ReceivedAt(ended, 2), Time::Nanos(503));
  EXPECT_EQ(ReceivedAt(ended, 2, FlowEnd::kSent), Time::Nanos(3));
}

TEST(Analytical, FlowsNeverDelayEachOther) {
  auto fabric = NewFabric("analytical", MakeTopology({MakeDim(Kind::kSwitch, 8)}));
  std::vector<TimedFlow> flows;
  for (int s = 1; s < 8; ++s) flows.push_back({Message(s, 0, 50000, static_cast<uint64_t>(s)), Time::Zero()});
  const auto ended = Drive(fabric.get(), flows);
  ASSERT_EQ(ended.size(), 7u);
  for (size_t i = 0; i < ended.size(); ++i) {
    EXPECT_EQ(ended[i].at, Time::Nanos(2000));
    EXPECT_EQ(ended[i].tag, i + 1);  // order of Start
  }
  EXPECT_TRUE(fabric->contention_free());
}

// More instants are in flight than the fabric remembers. The order must still be right.
TEST(Analytical, EndsAreOrderedByTimeThenStart) {
  const Topology topology = MakeTopology({MakeDim(Kind::kRing, 8), MakeDim(Kind::kSwitch, 4, 25, 100)});
  auto fabric = NewFabric("analytical", topology);
  std::mt19937_64 random(3);
  std::vector<TimedFlow> flows;
  std::vector<std::tuple<Time, uint64_t, int>> expected;
  for (uint64_t i = 0; i < 40000; ++i) {
    Flow f = Message(static_cast<int>(random() % 32), static_cast<int>(random() % 32), random() % 3000 * 100,
                     i, true);
    const Time at = Time::Nanos(static_cast<int64_t>(i / 2000));
    flows.push_back({f, at});
    std::vector<Hop> path;
    topology.Path(f.src, f.dst, &path);
    Time latency, transfer;
    for (const Hop& h : path) {
      const TopologyDimension& d = topology.dimensions()[h.dimension];
      latency += d.latency;
      transfer = std::max(transfer, TransferTime(f.bytes, d.bandwidth));
    }
    expected.emplace_back(at + transfer, i, 0);
    expected.emplace_back(at + latency + transfer, i, 1);
  }
  std::sort(expected.begin(), expected.end());
  const auto ended = Drive(fabric.get(), flows);
  ASSERT_EQ(ended.size(), expected.size());
  for (size_t i = 0; i < ended.size(); ++i) {
    const auto [at, tag, kind] = expected[i];
    ASSERT_EQ(ended[i].at, at) << i;
    ASSERT_EQ(ended[i].tag, tag) << i;
    ASSERT_EQ(static_cast<int>(ended[i].kind), kind) << i;
  }
}

TEST(Analytical, TrafficCountsSimulatedAndAccountedBytes) {
  auto fabric = NewFabric("analytical", MakeTopology({MakeDim(Kind::kRing, 4), MakeDim(Kind::kSwitch, 2)}));
  Drive(fabric.get(), {{Message(0, 6, 10), Time::Zero()}});
  fabric->Account(0, 1, 100, 3);
  const auto traffic = fabric->Traffic();
  ASSERT_EQ(traffic.size(), 2u);
  EXPECT_EQ(traffic[0].bytes, 20u + 300u);
  EXPECT_EQ(traffic[1].bytes, 20u);
  EXPECT_EQ(traffic[0].kind, "ring");
  EXPECT_EQ(traffic[1].size, 2);
}

TEST(Analytical, TooLongTransfersNeverEnd) {
  for (const char* name : {"analytical", "analytical-fifo"}) {
    auto fabric = NewFabric(name, MakeTopology({MakeDim(Kind::kRing, 2, 1e-9)}));
    EXPECT_TRUE(Drive(fabric.get(), {{Message(0, 1, ~uint64_t{0}), Time::Nanos(1)}}).empty()) << name;
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
