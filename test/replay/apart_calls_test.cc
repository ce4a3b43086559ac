// Replays that compute isolated calls by themselves, against the same replays flow by flow.
#include <gtest/gtest.h>

#include <random>

#include "backends/fluid/options.h"
#include "replay/engine/price.h"
#include "replay/engine/symmetry/serial_groups.h"
#include "test/replay/engine_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ApartKind = TopologyDimension::Kind;

Topology ApartTopology(ApartKind inner, int k, int blocks) {
  return *Topology::Make(
      {{inner, k, Bandwidth::FromGigabytes(450), Time::Nanos(300), "inner"},
       {ApartKind::kSwitch, blocks, Bandwidth::FromGigabytes(50), Time::Nanos(700), "outer"}});
}

std::vector<int> ApartRanks(int first, int count, int stride) {
  std::vector<int> ranks;
  for (int i = 0; i < count; ++i) ranks.push_back(first + i * stride);
  return ranks;
}

struct ApartResult {
  absl::StatusOr<Metrics> metrics;
  std::vector<DimensionTraffic> traffic;
  LinkUses links;
};

ApartResult ApartReplay(const TraceBuilder& builder, const Topology& topology, EngineOptions options,
                        const char* fabric = "fluid") {
  const absl::StatusOr<TraceSet> traces = builder.Build();
  auto machine = MakeMachine(fabric, topology, FabricOptions());
  ApartResult result{Replay(*traces, Recorded(*traces), **machine, options), {}, {}};
  result.traffic = (*machine)->Traffic();
  result.links = (*machine)->Links(1000);
  return result;
}

void ExpectSameReplay(const ApartResult& a, const ApartResult& b) {
  ASSERT_TRUE(a.metrics.ok() && b.metrics.ok()) << a.metrics.status() << b.metrics.status();
  ASSERT_EQ(a.metrics->makespan, b.metrics->makespan);
  for (size_t r = 0; r < a.metrics->ranks.size(); ++r) {
    const RankMetrics &one = a.metrics->ranks[r], &other = b.metrics->ranks[r];
    ASSERT_EQ(one.end, other.end) << r;
    ASSERT_EQ(one.comm_busy, other.comm_busy) << r;
    ASSERT_EQ(one.waited, other.waited) << r;
  }
  for (size_t d = 0; d < a.traffic.size(); ++d) ASSERT_EQ(a.traffic[d].bytes, b.traffic[d].bytes) << d;
  ASSERT_EQ(a.links.links, b.links.links);
  for (size_t l = 0; l < a.links.busiest.size(); ++l) {
    const LinkUse &one = a.links.busiest[l], &other = b.links.busiest[l];
    ASSERT_EQ(one.link, other.link);
    ASSERT_EQ(one.bytes, other.bytes);
    ASSERT_EQ(one.flows, other.flows);
    ASSERT_DOUBLE_EQ(one.peak, other.peak);
  }
}

// 12 times, each rank computes, then calls on one of its groups. In some steps, ranks are late, calls are on
// a group that shares links with others, or no later node depends on the calls.
TraceBuilder ApartStep(std::mt19937_64* random, int k, int blocks) {
  const int n = k * blocks;
  TraceBuilder builder(n);
  for (int b = 0; b < blocks; ++b) builder.groups[absl::StrCat("t", b)] = ApartRanks(b * k, k, 1);
  for (int i = 0; i < k; ++i) builder.groups[absl::StrCat("d", i)] = ApartRanks(i, blocks, k);
  builder.groups["all"] = ApartRanks(0, n, 1);
  const CollectiveType types[] = {CollectiveType::kAllReduce, CollectiveType::kAllGather,
                                  CollectiveType::kReduceScatter, CollectiveType::kAllToAll,
                                  CollectiveType::kBroadcast};
  const bool crosses = (*random)() % 3 == 0, late = (*random)() % 3 == 0, forks = (*random)() % 3 == 0;
  std::vector<std::vector<uint64_t>> last(static_cast<size_t>(n));
  for (int step = 0; step < 12; ++step) {
    const uint64_t kind = crosses && (*random)() % 6 == 0 ? 2 : (*random)() % 2, micros = (*random)() % 40;
    const int64_t bytes = static_cast<int64_t>(n) * static_cast<int64_t>(1 + (*random)() % 60000);
    const CollectiveType type = types[(*random)() % 5];
    const bool aside = forks && (*random)() % 4 == 0;
    for (int r = 0; r < n; ++r) {
      const uint64_t more = late && (*random)() % 8 == 0 ? 3 : 0;
      const uint64_t comp = builder.Comp(r, micros + more, last[static_cast<size_t>(r)]).id();
      const std::string group = kind == 0   ? absl::StrCat("t", r / k)
                                : kind == 1 ? absl::StrCat("d", r % k)
                                            : std::string("all");
      const uint64_t call = builder.Coll(r, type, bytes, {comp}, group).id();
      last[static_cast<size_t>(r)] = {aside ? comp : call};
    }
  }
  return builder;
}

TEST(IsolatedCalls, EqualsSimulationOfFlows) {
  std::mt19937_64 random(11);
  uint64_t closed = 0;
  for (int round = 0; round < 90; ++round) {
    const int k = 2 + static_cast<int>(random() % 4), blocks = 2 + static_cast<int>(random() % 3);
    const ApartKind inner = random() % 2 == 0 ? ApartKind::kSwitch : ApartKind::kFullyConnected;
    const Topology topology = ApartTopology(inner, k, blocks);
    const TraceBuilder builder = ApartStep(&random, k, blocks);
    EngineOptions options;
    const LanePolicy policies[] = {LanePolicy::kRecorded, LanePolicy::kSingle, LanePolicy::kUnlimited};
    options.lanes = policies[round % 3];
    options.collectives.splits = 1 + round % 2;
    if (round % 4 == 0) options.collectives.step_overhead = Time::Nanos(900);
    SCOPED_TRACE(round);
    const ApartResult quick = ApartReplay(builder, topology, options);
    options.fast_paths = false;
    const ApartResult slow = ApartReplay(builder, topology, options);
    ExpectSameReplay(quick, slow);
    if (HasFatalFailure()) return;
    closed += quick.metrics->fast_collectives;
    EXPECT_EQ(slow.metrics->fast_collectives, 0u);
  }
  EXPECT_GT(closed, 300u);
}

// On a fabric whose flows do not delay each other, a call whose members begin together needs no events,
// whatever else runs. Symmetric groups take the time of one of them.
TEST(IsolatedCalls, StepsWithoutEventsEqualStepsWithEvents) {
  std::mt19937_64 random(12);
  for (int round = 0; round < 120; ++round) {
    const int k = 2 + static_cast<int>(random() % 5), blocks = 2 + static_cast<int>(random() % 5);
    const auto inner = static_cast<ApartKind>(random() % 3);
    const Topology topology = ApartTopology(inner, k, blocks);
    const TraceBuilder builder = ApartStep(&random, k, blocks);
    EngineOptions options;
    const LanePolicy policies[] = {LanePolicy::kRecorded, LanePolicy::kSingle, LanePolicy::kUnlimited};
    options.lanes = policies[round % 3];
    if (round % 5 == 0) options.collectives.splits = 2;
    if (round % 4 == 0) options.collectives.step_overhead = Time::Nanos(900);
    if (round % 3 == 0) options.collectives.reduce_bandwidth = Bandwidth::FromGigabytes(900);
    options.collectives.algorithm["all_reduce"] = "double_binary_tree";
    SCOPED_TRACE(round);
    const ApartResult quick = ApartReplay(builder, topology, options, "analytical");
    options.fast_paths = false;
    const ApartResult slow = ApartReplay(builder, topology, options, "analytical");
    ExpectSameReplay(quick, slow);
    if (HasFatalFailure()) return;
  }
}

TEST(IsolatedCalls, TreesOfSymmetricGroupsEqualSimulation) {
  std::mt19937_64 random(13);
  for (int round = 0; round < 60; ++round) {
    const int k = 2 + static_cast<int>(random() % 5), blocks = 2 + static_cast<int>(random() % 12);
    const Topology topology = ApartTopology(static_cast<ApartKind>(random() % 3), k, blocks);
    TraceBuilder builder(k * blocks);
    for (int i = 0; i < k; ++i) builder.groups[absl::StrCat("d", i)] = ApartRanks(i, blocks, k);
    const int64_t bytes = 1024 * static_cast<int64_t>(1 + random() % 6000);  // equal chunks
    for (int r = 0; r < k * blocks; ++r) {
      const std::string group = absl::StrCat("d", r % k);
      const uint64_t first = builder.Coll(r, CollectiveType::kAllReduce, bytes, {}, group).id();
      builder.Coll(r, CollectiveType::kAllReduce, 2 * bytes, {builder.Comp(r, 900000, {first}).id()}, group);
    }
    EngineOptions options;
    options.collectives.algorithm["all_reduce"] = "double_binary_tree";
    SCOPED_TRACE(round);
    const ApartResult quick = ApartReplay(builder, topology, options, "analytical");
    options.fast_paths = false;
    const ApartResult slow = ApartReplay(builder, topology, options, "analytical");
    ExpectSameReplay(quick, slow);
    if (HasFatalFailure()) return;
    // The members of the second call begin one after another, as they ended the first call.
    EXPECT_LT(quick.metrics->flows, slow.metrics->flows);
    EXPECT_GE(quick.metrics->fast_collectives, static_cast<uint64_t>(k));
  }
}

// An all-to-all with too many members to try flow by flow is computed by kinds of flows. This may round the
// end of a call to a neighbouring picosecond.
TEST(IsolatedCalls, LargeExchangesEqualSimulationWithinRounding) {
  const Topology topology = ApartTopology(ApartKind::kSwitch, 8, 36);
  TraceBuilder builder(288);
  for (int r = 0; r < 288; ++r) {
    const uint64_t first = builder.Coll(r, CollectiveType::kAllToAll, 288 * 5000).id();
    builder.Coll(r, CollectiveType::kAllToAll, 288 * 777, {first});
  }
  EngineOptions options;
  options.collectives.algorithm["all_to_all"] = "direct";
  const ApartResult quick = ApartReplay(builder, topology, options);
  options.fast_paths = false;
  const ApartResult slow = ApartReplay(builder, topology, options);
  ASSERT_TRUE(quick.metrics.ok() && slow.metrics.ok()) << quick.metrics.status() << slow.metrics.status();
  EXPECT_EQ(quick.metrics->fast_collectives, 2u);
  for (size_t r = 0; r < 288; ++r) {
    const Time a = quick.metrics->ranks[r].end, b = slow.metrics->ranks[r].end;
    ASSERT_NEAR(static_cast<double>(a.picos()), static_cast<double>(b.picos()), 2) << r;
  }
  ASSERT_EQ(quick.links.links, slow.links.links);
  for (size_t l = 0; l < slow.links.busiest.size(); ++l) {
    const LinkUse &a = quick.links.busiest[l], &b = slow.links.busiest[l];
    ASSERT_EQ(a.link, b.link);
    ASSERT_EQ(a.bytes, b.bytes);
    ASSERT_EQ(a.flows, b.flows);
    ASSERT_NEAR(a.peak, b.peak, 1e-9);
  }
}

TEST(IsolatedCalls, SerialGroupsFollowDependenciesAndLanes) {
  const auto serial = [](bool tied, LanePolicy policy) {
    TraceBuilder b(2);
    b.groups["one"] = {0, 1};
    b.groups["other"] = {1, 0};
    for (int r = 0; r < 2; ++r) {
      const uint64_t first = b.Coll(r, CollectiveType::kAllReduce, 64, {}, "one").id();
      const uint64_t between =
          b.Comp(r, 5, tied || r == 0 ? std::vector<uint64_t>{first} : std::vector<uint64_t>{}).id();
      b.Coll(r, CollectiveType::kAllReduce, 64, {between}, "other");
    }
    const absl::StatusOr<TraceSet> traces = b.Build();
    const absl::StatusOr<Matching> matching = MatchCommunication(*traces, {});
    EXPECT_TRUE(matching.ok()) << matching.status();
    const std::vector<bool> groups = SerialGroups(*traces, policy, *matching);
    return std::all_of(groups.begin(), groups.end(), [](bool s) { return s; });
  };
  EXPECT_TRUE(serial(true, LanePolicy::kRecorded));
  EXPECT_FALSE(serial(false, LanePolicy::kRecorded));
  EXPECT_TRUE(serial(false, LanePolicy::kSingle));
  EXPECT_FALSE(serial(true, LanePolicy::kUnlimited));
}

// An isolated ring: its recurrence gives the same time as the simulation of its flows.
TEST(IsolatedRing, EqualsSimulationOfFlows) {
  std::mt19937_64 random(23);
  for (int round = 0; round < 60; ++round) {
    const int k = 1 + static_cast<int>(random() % 4), blocks = 3 + static_cast<int>(random() % 5);
    const Topology topology =
        k == 1 ? *Topology::Make(
                     {{ApartKind::kRing, blocks, Bandwidth::FromGigabytes(30), Time::Nanos(10), "ring"}})
               : ApartTopology(ApartKind::kSwitch, k, blocks);
    CollectiveCosts costs;
    costs.splits = 1 + static_cast<int>(random() % 3);
    const CollectiveType types[] = {CollectiveType::kAllReduce, CollectiveType::kAllGather,
                                    CollectiveType::kReduceScatter};
    const CollectiveType type = types[round % 3];
    costs.algorithm[std::string(Name(type))] = "ring";
    if (round % 2 == 0) costs.step_overhead = Time::Nanos(static_cast<int64_t>(random() % 900));
    if (round % 4 == 0) costs.reduce_bandwidth = Bandwidth::FromGigabytes(900);
    FabricOptions fabric;
    if (round % 5 == 0) fabric.Ask<FlowOptions>().startup = Time::Nanos(350);
    const std::vector<int> members = ApartRanks(0, topology.devices(), 1);
    const uint64_t bytes = members.size() * static_cast<uint64_t>(costs.splits) * (1 + random() % 100000);
    Time times[2];
    for (const bool in_place : {false, true}) {
      auto machine = MakeMachine("fluid", topology, fabric);
      Time now = Time::Nanos(5);
      const auto priced = PriceCall(**machine, costs, type, bytes, 0, members, &now, nullptr, in_place);
      ASSERT_TRUE(priced.ok()) << priced.status();
      times[in_place] = priced->time;
      EXPECT_EQ((*machine)->Links(1).links == 0, in_place) << round;
    }
    EXPECT_EQ(times[0], times[1]) << round;
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
