// Compares the levels of links with a slow solver, and the ends that clocks give with those of FluidNetwork.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "backends/fluid/fluid.h"
#include "backends/fluid/levels.h"
#include "fabric_testing.h"
#include "slow_rates.h"

namespace chakra::CHAKRA_FILE {
namespace {

using Kind = TopologyDimension::Kind;

double LevelsUniform(std::mt19937_64* random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(*random);
}

std::vector<FluidHop> LevelsHops(std::mt19937_64* random, size_t links, bool shares) {
  std::set<uint32_t> chosen;
  for (uint64_t l = 1 + (*random)() % 4; l > 0; --l)
    chosen.insert(static_cast<uint32_t>((*random)() % links));
  std::vector<FluidHop> hops;
  for (const uint32_t l : chosen)
    hops.push_back({l, shares ? static_cast<double>(1 + (*random)() % 4) / 4 : 1});
  return hops;
}

void ExpectRates(const FluidLevels& levels, const std::vector<double>& capacity,
                 const std::map<uint32_t, PlainFlow>& flows) {
  for (const auto& [id, rate] : SlowRates(capacity, flows)) {
    ASSERT_NEAR(levels.rate(id), rate, 1e-9 * std::max(rate, 1e-6)) << id;
  }
  ASSERT_TRUE(levels.IsMaxMin(1e-9));
}

TEST(FluidLevels, SolvesTextbookExamples) {
  FluidLevels n;
  const uint32_t a = n.AddLink(1), b = n.AddLink(2);
  const uint32_t both = n.AddFlow({{a}, {b}}, 1), first = n.AddFlow({{a}}, 1), second = n.AddFlow({{b}}, 1);
  n.Solve();
  EXPECT_DOUBLE_EQ(n.rate(both), 0.5);
  EXPECT_DOUBLE_EQ(n.rate(first), 0.5);
  EXPECT_DOUBLE_EQ(n.rate(second), 1.5);
  EXPECT_EQ(n.moved().size(), 3u);
  n.RemoveFlow(first);
  n.Solve();
  EXPECT_DOUBLE_EQ(n.rate(both), 1);
  EXPECT_DOUBLE_EQ(n.rate(second), 1);
  const uint32_t heavy = n.AddFlow({{b}}, 3);
  n.RemoveFlow(both);
  n.Solve();
  EXPECT_DOUBLE_EQ(n.rate(second), 0.5);
  EXPECT_DOUBLE_EQ(n.rate(heavy), 1.5);
  EXPECT_EQ(n.level(a), FluidLevels::kNoLevel);
  EXPECT_EQ(n.used(a), 0);
  EXPECT_DOUBLE_EQ(n.used(b), 2);
}

TEST(FluidLevels, RemovedFlowsLeaveNoTrace) {
  FluidLevels n;
  const uint32_t a = n.AddLink(3);
  const uint32_t stays = n.AddFlow({{a}}, 1);
  n.Solve();
  const uint32_t gone = n.AddFlow({{a}}, 1);
  n.RemoveFlow(gone);
  n.Solve();
  EXPECT_TRUE(n.moved().empty());
  EXPECT_DOUBLE_EQ(n.rate(stays), 3);
  n.RemoveFlow(stays);
  n.Solve();
  EXPECT_EQ(n.flows(), 0u);
  EXPECT_TRUE(n.by_level().empty());
}

// Random sizes, ties, shares and weights; flows come and go one by one or several at once.
TEST(FluidLevels, MatchSlowSolverAsFlowsComeAndGo) {
  std::mt19937_64 random(29);
  for (int round = 0; round < 300; ++round) {
    FluidLevels n;
    std::vector<double> capacity;
    const bool large = round % 10 == 9, whole = round % 3 == 0;
    const size_t links = 1 + random() % (large ? 80 : 20);
    for (size_t l = 0; l < links; ++l) {
      capacity.push_back(whole ? static_cast<double>(1 + random() % 3)
                               : std::exp(LevelsUniform(&random, -5, 5)));
      n.AddLink(capacity.back());
    }
    std::map<uint32_t, PlainFlow> flows;
    for (int step = 0; step < 40; ++step) {
      for (uint64_t k = 1 + random() % (large && step == 0 ? 150 : 4); k > 0; --k) {
        if (!flows.empty() && random() % 2 == 0 && step > 0) {
          auto it = flows.begin();
          std::advance(it, static_cast<std::ptrdiff_t>(random() % flows.size()));
          n.RemoveFlow(it->first);
          flows.erase(it);
          continue;
        }
        PlainFlow f;
        f.links = LevelsHops(&random, links, round % 7 == 3);
        if (round % 4 == 1)
          f.weight = whole ? static_cast<double>(1 + random() % 3) : std::exp(LevelsUniform(&random, -2, 2));
        flows[n.AddFlow(f.links, f.weight)] = f;
      }
      n.Solve();
      SCOPED_TRACE(testing::Message() << "round " << round << ", step " << step);
      ASSERT_NO_FATAL_FAILURE(ExpectRates(n, capacity, flows));
    }
  }
}

// In an all-to-all, flows leave one by one, and each changes the levels of many links.
TEST(FluidLevels, MatchSlowSolverInAnAllToAll) {
  std::mt19937_64 random(31);
  for (const bool equal : {true, false}) {
    constexpr uint32_t kHosts = 10;
    FluidLevels n;
    std::vector<double> capacity;
    for (uint32_t l = 0; l < 2 * kHosts; ++l) {
      capacity.push_back(equal ? 50 : LevelsUniform(&random, 40, 60));
      n.AddLink(capacity.back());
    }
    std::map<uint32_t, PlainFlow> flows;
    for (uint32_t s = 0; s < kHosts; ++s) {
      for (uint32_t d = 0; d < kHosts; ++d) {
        if (s == d) continue;
        PlainFlow f;
        f.links = {{s}, {kHosts + d}};
        flows[n.AddFlow(f.links, 1)] = f;
      }
    }
    while (!flows.empty()) {
      n.Solve();
      ASSERT_NO_FATAL_FAILURE(ExpectRates(n, capacity, flows));
      auto it = flows.begin();
      std::advance(it, static_cast<std::ptrdiff_t>(random() % flows.size()));
      n.RemoveFlow(it->first);
      flows.erase(it);
    }
    EXPECT_LE(n.refills(), 1u) << "the sweep gives up";
  }
}

// When each flow was sent and received, by tag.
struct FluidEnds {
  std::map<uint64_t, int64_t> sent, received;
};

FluidEnds FluidEndsOf(const Topology& topology, const FabricOptions& options,
                      const std::vector<TimedFlow>& flows, bool clocks) {
  FluidFabric fabric(topology, options);
  // With 0, clocks time every flow from the first solution on; with SIZE_MAX, they time none.
  fabric.ClockFrom(clocks ? 0 : SIZE_MAX, clocks ? 1 : UINT32_MAX);
  FluidEnds ends;
  for (const FlowEnd& e : Drive(&fabric, flows)) {
    (e.kind == FlowEnd::kSent ? ends.sent : ends.received)[e.tag] = e.at.picos();
  }
  EXPECT_EQ(fabric.clocks(), nullptr) << "clocks without flows";
  return ends;
}

// In both, each change of a rate rounds an end up to a picosecond.
void ExpectClocksAgree(const Topology& topology, const FabricOptions& options,
                       const std::vector<TimedFlow>& flows) {
  const FluidEnds plain = FluidEndsOf(topology, options, flows, false),
                  clocks = FluidEndsOf(topology, options, flows, true);
  ASSERT_EQ(plain.sent.size(), flows.size());
  ASSERT_EQ(clocks.sent.size(), flows.size());
  for (const auto& [tag, at] : plain.sent) {
    const double near = 1e-12 * static_cast<double>(at) + 2;
    ASSERT_NEAR(static_cast<double>(clocks.sent.at(tag)), static_cast<double>(at), near) << tag;
    ASSERT_NEAR(static_cast<double>(clocks.received.at(tag)), static_cast<double>(plain.received.at(tag)),
                near)
        << tag;
  }
}

std::vector<TimedFlow> ClockedFlows(std::mt19937_64* random, int devices, uint64_t count) {
  std::vector<TimedFlow> flows;
  Time at;
  for (uint64_t i = 0; i < count; ++i) {
    at += Time::Nanos(static_cast<int64_t>((*random)() % 3) * 20000);
    const auto n = static_cast<uint64_t>(devices);
    Flow f = Message(static_cast<int>((*random)() % n), static_cast<int>((*random)() % n),
                     (*random)() % 5 == 0 ? (*random)() % 4 * 1000000 : (*random)() % 8000000, i, true);
    f.service_class = static_cast<int>((*random)() % 3);
    flows.push_back({f, at});
  }
  return flows;
}

TEST(FluidClocks, EndsMatchFluidNetwork) {
  std::mt19937_64 random(37);
  for (int round = 0; round < 60; ++round) {
    std::vector<TopologyDimension> dims;
    for (uint64_t d = 0; d <= random() % 2; ++d) {
      dims.push_back(MakeDim(static_cast<Kind>(random() % 3), 2 + static_cast<int>(random() % 5),
                             round % 2 == 0 ? 50 : LevelsUniform(&random, 1, 60)));
    }
    FabricOptions options;
    if (round % 3 == 0) options.Ask<FlowOptions>().classes = {{1, 0}, {2.5, 0}};
    if (round % 4 == 1) options.Ask<FlowOptions>().startup = Time::Nanos(1300);
    const Topology topology = MakeTopology(dims);
    SCOPED_TRACE(round);
    ASSERT_NO_FATAL_FAILURE(
        ExpectClocksAgree(topology, options, ClockedFlows(&random, topology.devices(), 80)));
  }
}

// Several paths for a flow, and links of several rates.
TEST(FluidClocks, EndsMatchFluidNetworkOnSeveralPaths) {
  std::mt19937_64 random(41);
  for (const char* text : {"fat_tree:k=4,core_link=200Gb/s", "torus:shape=4x2x2", "switch:planes=2"}) {
    const auto spec = ParseNetworkSpec(text);
    ASSERT_TRUE(spec.ok()) << spec.status();
    auto network = BuildNetwork(*spec, 16);
    ASSERT_TRUE(network.ok()) << network.status();
    TopologyDimension d;
    d.kind = Kind::kNetwork;
    d.size = 16;
    d.name = "d";
    d.network = std::make_shared<const Network>(*std::move(network));
    SCOPED_TRACE(text);
    ASSERT_NO_FATAL_FAILURE(ExpectClocksAgree(MakeTopology({d}), {}, ClockedFlows(&random, 16, 200)));
  }
}

std::vector<TimedFlow> AllToAllOfRandomSizes(int hosts) {
  std::mt19937_64 random(43);
  std::vector<TimedFlow> flows;
  for (int s = 0; s < hosts; ++s) {
    for (int d = 0; d < hosts; ++d) {
      if (s == d) continue;
      flows.push_back({Message(s, d, (1 << 20) + random() % (1 << 20), flows.size(), true), Time::Zero()});
    }
  }
  return flows;
}

TEST(FluidClocks, LargeAllToAllStartsClocks) {
  const Topology topology = MakeTopology({MakeDim(Kind::kSwitch, 48)});
  const std::vector<TimedFlow> flows = AllToAllOfRandomSizes(48);
  FluidFabric fabric(topology, {});
  for (const TimedFlow& f : flows) fabric.Start(f.flow, f.at);
  bool clocked = false;
  std::vector<FlowEnd> ended;
  for (Time t = fabric.NextEvent(); t != Time::Never(); t = fabric.NextEvent()) {
    fabric.AdvanceTo(t, &ended);
    clocked = clocked || fabric.clocks() != nullptr;
  }
  EXPECT_TRUE(clocked);
  EXPECT_EQ(ended.size(), 2 * flows.size());
  ASSERT_NO_FATAL_FAILURE(ExpectClocksAgree(topology, {}, flows));
}

TEST(FluidClocks, EndsAreDeterministic) {
  const Topology topology = MakeTopology({MakeDim(Kind::kSwitch, 20)});
  const std::vector<TimedFlow> flows = AllToAllOfRandomSizes(20);
  const FluidEnds once = FluidEndsOf(topology, {}, flows, true),
                  again = FluidEndsOf(topology, {}, flows, true);
  EXPECT_EQ(once.sent, again.sent);
  EXPECT_EQ(once.received, again.received);
}

// A flow that shares no link takes the time that `analytical` gives, to the picosecond, while others share
// links.
TEST(FluidClocks, IsolatedFlowMatchesAnalytical) {
  const Topology topology = MakeTopology({MakeDim(Kind::kSwitch, 12, 37.3)});
  std::vector<TimedFlow> flows = AllToAllOfRandomSizes(10);
  flows.push_back({Message(10, 11, 7654321, flows.size(), true), Time::Zero()});
  const FluidEnds ends = FluidEndsOf(topology, {}, flows, true);
  const std::unique_ptr<Machine> plain = NewFabric("analytical", topology);
  EXPECT_EQ(ends.received.at(flows.size() - 1), plain->Cost(10, 11, 7654321).received().picos());
}

// Background flows come from `mixed`. Clocks cannot time them, so the flows go back to FluidNetwork.
TEST(FluidClocks, BackgroundFlowsEndTheClocks) {
  const Topology topology = MakeTopology({MakeDim(Kind::kSwitch, 12)});
  const std::vector<TimedFlow> flows = AllToAllOfRandomSizes(12);
  FluidEnds ends[2];
  for (const bool clocks : {false, true}) {
    FluidFabric fabric(topology, {});
    fabric.ClockFrom(clocks ? 0 : SIZE_MAX, clocks ? 1 : UINT32_MAX);
    for (const TimedFlow& f : flows) fabric.Start(f.flow, f.at);
    std::vector<FlowEnd> ended;
    fabric.NextEvent();
    fabric.AdvanceTo(Time::Micros(150), &ended);
    EXPECT_EQ(fabric.clocks() != nullptr, clocks);
    std::vector<Hop> path;
    topology.Path(0, 1, &path);
    std::vector<RouteHop> hops;
    for (const Hop& h : path) hops.push_back({h, 1});
    const uint32_t background = fabric.AddBackground(hops, 0, Bandwidth());
    EXPECT_EQ(fabric.clocks(), nullptr);
    fabric.NextEvent();
    fabric.AdvanceTo(Time::Micros(200), &ended);
    EXPECT_LT(fabric.Left(path[0]), 1);
    fabric.RemoveBackground(background);
    for (Time t = fabric.NextEvent(); t != Time::Never(); t = fabric.NextEvent()) fabric.AdvanceTo(t, &ended);
    for (const FlowEnd& e : ended) ends[clocks].sent[e.tag] = e.at.picos();
  }
  ASSERT_EQ(ends[0].sent.size(), flows.size());
  for (const auto& [tag, at] : ends[0].sent) {
    EXPECT_NEAR(static_cast<double>(ends[1].sent[tag]), static_cast<double>(at), 3) << tag;
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
