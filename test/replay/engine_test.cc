#include "replay/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "backends/registry.h"
#include "test/replay/interpreter.h"
#include "test/replay/trace_builder.h"

namespace chakra {
namespace {

using ::testing::HasSubstr;
using T = CollectiveType;

constexpr int64_t kUs = 1000000;  // picoseconds

const Wire kWire = {Time::Nanos(500), Bandwidth::BytesPerSecond(50000000000)};  // 20 ps a byte

Topology Mesh(int devices, Wire wire = kWire) {
  TopologyDimension d;
  d.kind = TopologyDimension::Kind::kFullyConnected;
  d.size = std::max(2, devices);
  d.bandwidth = wire.bandwidth;
  d.latency = wire.latency;
  return *Topology::Make({d});
}

// Recorded durations, and nothing else.
std::vector<ComputeTimes> Recorded(const TraceSet& traces) {
  std::vector<ComputeTimes> all;
  for (const Graph* graph : DistinctGraphs(traces).graphs) {
    ComputeTimes times;
    for (uint32_t row = 0; row < graph->size(); ++row) {
      times.time.push_back(graph->type[row] == NodeType::kComp ? graph->duration[row] : Time::Zero());
      times.rung.push_back(ComputeRung::kRecorded);
    }
    all.push_back(std::move(times));
  }
  return all;
}

absl::StatusOr<Metrics> Replayed(const TraceBuilder& builder, EngineOptions options,
                                 const char* fabric_name = "analytical") {
  absl::StatusOr<TraceSet> traces = builder.Build();
  if (!traces.ok()) return traces.status();
  auto fabric = MakeFabric(fabric_name, Mesh(static_cast<int>(traces->ranks.size())), FabricOptions());
  if (!fabric.ok()) return fabric.status();
  return Replay(*traces, Recorded(*traces), **fabric, options);
}

int64_t Makespan(const TraceBuilder& builder, EngineOptions options = {}, const char* fabric = "analytical") {
  absl::StatusOr<Metrics> metrics = Replayed(builder, options, fabric);
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  return metrics.ok() ? metrics->makespan.picos() : -1;
}

EngineOptions Lanes(LanePolicy policy) {
  EngineOptions options;
  options.lanes = policy;
  return options;
}

// ---- one rule of the engine each -------------------------------------------

TEST(Engine, AChainTakesItsSum) {
  TraceBuilder b(1);
  b.Comp(0, 3);
  b.Comp(0, 4, {0});
  b.Comp(0, 5, {1});
  EXPECT_EQ(Makespan(b), 12 * kUs);
}

TEST(Engine, OneComputeLaneRunsOneNodeAtATimeUnlimitedAll) {
  TraceBuilder b(1);
  b.Comp(0, 3);
  b.Comp(0, 4);
  EXPECT_EQ(Makespan(b, Lanes(LanePolicy::kSingle)), 7 * kUs);
  EXPECT_EQ(Makespan(b, Lanes(LanePolicy::kRecorded)), 7 * kUs);
  EXPECT_EQ(Makespan(b, Lanes(LanePolicy::kUnlimited)), 4 * kUs);
}

TEST(Engine, HostAndDeviceOverlap) {
  TraceBuilder b(1);
  TraceBuilder::Int(&b.Comp(0, 3), "is_cpu_op", 1);
  b.Comp(0, 4);
  EXPECT_EQ(Makespan(b, Lanes(LanePolicy::kSingle)), 4 * kUs);
}

TEST(Engine, RecordedStreamsKeepTheirOrderAndOverlapEachOther) {
  TraceBuilder b(1);
  // Stream 7: node 0, then node 1 although node 1 was ready first.
  TraceBuilder::Int(&b.Comp(0, 1, {2}), "stream", 7);
  TraceBuilder::Int(&b.Comp(0, 10, {0}), "stream", 7);
  TraceBuilder::Int(&b.Comp(0, 5), "stream", 8);
  EXPECT_EQ(Makespan(b), 16 * kUs);
  TraceBuilder c(1);
  TraceBuilder::Int(&c.Comp(0, 5), "stream", 7);
  TraceBuilder::Int(&c.Comp(0, 6), "stream", 8);
  EXPECT_EQ(Makespan(c), 6 * kUs);
}

TEST(Engine, AStrictStreamBlocksBehindItsHead) {
  TraceBuilder b(1);
  TraceBuilder::Int(&b.Comp(0, 5), "stream", 8);
  TraceBuilder::Int(&b.Comp(0, 1, {0}), "stream", 7);
  TraceBuilder::Int(&b.Comp(0, 10), "stream", 7);  // ready at 0, behind node 1
  EXPECT_EQ(Makespan(b), 16 * kUs);
  EXPECT_EQ(Makespan(b, Lanes(LanePolicy::kSingle)), 16 * kUs);
  EXPECT_EQ(Makespan(b, Lanes(LanePolicy::kUnlimited)), 10 * kUs);
}

TEST(Engine, AQueuedLaneTakesTheFirstRecordedOfThoseReady) {
  TraceBuilder b(1);
  b.Comp(0, 2);       // 0
  b.Comp(0, 1, {0});  // 1: ready at 2
  b.Comp(0, 4);       // 2: ready at 0
  b.Comp(0, 8, {1});  // 3
  TraceBuilder::Int(&b.Comp(0, 100, {2}), "is_cpu_op", 1);
  // 0 [0,2], 1 [2,3] before 2 as it was recorded first, 3 is ready at 3 but 2 was recorded first.
  EXPECT_EQ(Makespan(b, Lanes(LanePolicy::kSingle)), 107 * kUs);
}

TEST(Engine, ControlDependenciesHold) {
  TraceBuilder b(1);
  b.Comp(0, 3);
  b.Comp(0, 4).add_ctrl_deps(0);
  EXPECT_EQ(Makespan(b, Lanes(LanePolicy::kUnlimited)), 7 * kUs);
}

TEST(Engine, MetadataAndInvalidNodesTakeNoTimeAndReleaseTheirChildren) {
  TraceBuilder b(1);
  b.Add(0, et::METADATA_NODE);
  b.Add(0, et::INVALID_NODE, {0});
  b.Comp(0, 4, {1});
  EXPECT_EQ(Makespan(b), 4 * kUs);
  EXPECT_EQ(Replayed(b, {})->invalid_nodes, 1u);
}

TEST(Engine, SendAndReceive) {
  TraceBuilder b(2);
  b.Send(0, 1, 1000000, 5);
  b.Comp(0, 1, {0});  // after the last byte left
  b.Recv(1, 0, 1000000, 5);
  const absl::StatusOr<Metrics> m = Replayed(b, {});
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->ranks[1].end.picos(), 500000 + 20 * 1000000);
  EXPECT_EQ(m->ranks[0].end.picos(), 20 * 1000000 + kUs);
}

TEST(Engine, AReceiveThatComesLateEndsAtOnce) {
  TraceBuilder b(2);
  b.Send(0, 1, 1000, 0);
  b.Comp(1, 50);
  b.Recv(1, 0, 1000, 0, {0});
  EXPECT_EQ(Makespan(b), 50 * kUs);
}

TEST(Engine, MessagesOfOneTagPairInOrder) {
  TraceBuilder b(2);
  b.Send(0, 1, 1000, 0);
  b.Send(0, 1, 3000, 0, {0});
  b.Recv(1, 0, 1000, 0);
  b.Recv(1, 0, 3000, 0, {0});
  EXPECT_EQ(Makespan(b), 500000 + 20 * 4000);
}

TEST(Engine, MemoryNodesUseTheirModel) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) TraceBuilder::Int(&b.Add(r, et::MEM_LOAD_NODE), "tensor_size", 1000);
  EngineOptions options;
  EXPECT_THAT(std::string(Replayed(b, options).status().message()), HasSubstr("device.memory_gbytes_per_s"));
  options.memory.bandwidth = Bandwidth::BytesPerSecond(1000000000);
  options.memory.latency = Time::Nanos(7);
  EXPECT_EQ(Makespan(b, options), 1007000);
  options.memory.kind = MemoryModel::Kind::kPerRank;
  EXPECT_EQ(Makespan(b, options), 1007000);
  options.memory.kind = MemoryModel::Kind::kPool;
  EXPECT_EQ(Makespan(b, options), 2014000);
  options.memory.kind = MemoryModel::Kind::kPerNode;
  options.memory.ranks_per_node = 1;
  EXPECT_EQ(Makespan(b, options), 1007000);
  options.memory.ranks_per_node = 2;
  EXPECT_EQ(Makespan(b, options), 2014000);
}

// ---- closed forms ------------------------------------------------------------

TraceBuilder Everyone(int ranks, T type, int64_t bytes) {
  TraceBuilder b(ranks);
  for (int r = 0; r < ranks; ++r) b.Coll(r, type, bytes);
  return b;
}

TEST(Engine, ClosedFormsOfCollectives) {
  constexpr int64_t kAlpha = 500000, kByte = 20;
  for (bool fast : {true, false}) {
    for (const char* fabric : {"analytical", "analytical-fifo"}) {
      EngineOptions options;
      options.fast_paths = fast;
      for (int n : {2, 3, 4, 7, 8, 16}) {
        const int64_t s = int64_t{1680} * 16 * n;  // divides by n
        EXPECT_EQ(Makespan(Everyone(n, T::kAllReduce, s), options, fabric),
                  2 * (n - 1) * (kAlpha + s / n * kByte));
        EXPECT_EQ(Makespan(Everyone(n, T::kAllGather, s), options, fabric), (n - 1) * (kAlpha + s * kByte));
        EXPECT_EQ(Makespan(Everyone(n, T::kReduceScatter, s), options, fabric),
                  (n - 1) * (kAlpha + s / n * kByte));
        EXPECT_EQ(Makespan(Everyone(n, T::kReduceScatterBlock, s), options, fabric),
                  (n - 1) * (kAlpha + s / n * kByte));
        EXPECT_EQ(Makespan(Everyone(n, T::kAllToAll, s), options, fabric),
                  (n - 1) * (s / n) * kByte + kAlpha);
        EXPECT_EQ(Makespan(Everyone(n, T::kScatter, s), options, fabric), (n - 1) * (s / n) * kByte + kAlpha);
        EXPECT_EQ(Makespan(Everyone(n, T::kGather, s), options, fabric),
                  s * kByte + kAlpha);  // a mesh: own links
        int rounds = 0;
        while ((1 << rounds) < n) ++rounds;
        EXPECT_EQ(Makespan(Everyone(n, T::kBarrier, 0), options, fabric), rounds * kAlpha);
      }
      // Binomial, 8 members: the root's three sends, or three hops, whichever is longer.
      EXPECT_EQ(Makespan(Everyone(8, T::kBroadcast, 1000), options, fabric), 3 * (kAlpha + 1000 * kByte));
      EXPECT_EQ(Makespan(Everyone(8, T::kReduce, 1000), options, fabric), 3 * (kAlpha + 1000 * kByte));
    }
  }
}

TEST(Engine, AGroupOfOneAndNoBytesCostNothingButLatency) {
  EXPECT_EQ(Makespan(Everyone(1, T::kAllReduce, 1 << 20)), 0);
  EXPECT_EQ(Makespan(Everyone(4, T::kAllReduce, 0)), 6 * 500000);
}

TEST(Engine, LibraryCostsFollowAstraSimsFormula) {
  // 4 ranks, 1 MiB, 4 parts: 4 (6 (500 + 1220.7) + 7 * 10 + 3 * 3 * 40.96) ns.
  EngineOptions options;
  options.collectives.splits = 4;
  options.collectives.step_overhead = Time::Nanos(10);
  options.collectives.reduce_bandwidth = Bandwidth::BytesPerSecond(1600000000000);
  const int64_t message = 65536 * 20, reduce = 3 * 65536 * 10 / 16;
  const int64_t want = 4 * (6 * (500000 + message) + 7 * 10000 + 3 * reduce);
  for (bool fast : {true, false}) {
    options.fast_paths = fast;
    EXPECT_EQ(Makespan(Everyone(4, T::kAllReduce, 1 << 20), options), want);
  }
}

TEST(Engine, TheFastPathEqualsFlowByFlow) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const int n = 2 + static_cast<int>(random() % 15);
    const T types[] = {T::kAllReduce, T::kAllGather, T::kReduceScatter, T::kAllToAll, T::kBarrier};
    const T type = types[random() % 5];
    EngineOptions options;
    options.collectives.splits = 1 + static_cast<int>(random() % 3);
    if (random() % 2) options.collectives.step_overhead = Time::Nanos(random() % 50);
    if (random() % 2)
      options.collectives.reduce_bandwidth = Bandwidth::BytesPerSecond(1 + random() % 1000000000000);
    TraceBuilder b(n);
    const int64_t bytes = static_cast<int64_t>(random() % 1000) * n * options.collectives.splits;
    const bool skewed = random() % 2;
    for (int r = 0; r < n; ++r) {
      b.Comp(r, skewed ? random() % 20 : 3);
      b.Coll(r, type, bytes, {0});
    }
    TopologyDimension inner, outer;
    inner.kind = static_cast<TopologyDimension::Kind>(random() % 3);
    inner.size = 4;
    inner.bandwidth = Bandwidth::BytesPerSecond(1 + random() % 1000000000000);
    inner.latency = Time::Nanos(random() % 1000);
    outer = inner;
    outer.bandwidth = Bandwidth::BytesPerSecond(1 + random() % 1000000000000);
    const Topology topology = *Topology::Make({inner, outer});
    const TraceSet traces = *b.Build();
    NodeSpans spans[2];
    uint64_t fast[2];
    std::vector<DimensionTraffic> traffic[2];
    for (int i = 0; i < 2; ++i) {
      options.fast_paths = i == 0;
      options.spans = &spans[i];
      auto fabric = *MakeFabric("analytical", topology, FabricOptions());
      const auto metrics = Replay(traces, Recorded(traces), *fabric, options);
      ASSERT_TRUE(metrics.ok()) << metrics.status();
      fast[i] = metrics->fast_collectives;
      traffic[i] = fabric->Traffic();
    }
    EXPECT_EQ(fast[0], 1u);
    EXPECT_EQ(fast[1], 0u);
    for (int r = 0; r < n; ++r) EXPECT_EQ(spans[0][r][1].end, spans[1][r][1].end) << "round " << round;
    for (size_t d = 0; d < 2; ++d) EXPECT_EQ(traffic[0][d].bytes, traffic[1][d].bytes) << "round " << round;
  }
}

// ---- metrics -----------------------------------------------------------------

TEST(Engine, BusyTimes) {
  TraceBuilder b(2);
  b.Comp(0, 1);
  b.Comp(1, 1);
  for (int r = 0; r < 2; ++r) {
    b.Coll(r, T::kAllGather, 100000, {0});  // 2.5 us
    b.Comp(r, 1, {0});
    b.Comp(r, 2, {1, 2});
  }
  const absl::StatusOr<Metrics> m = Replayed(b, {});
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->makespan.picos(), kUs + 2500000 + 2 * kUs);
  EXPECT_EQ(m->ranks[0].compute_busy.picos(), 4 * kUs);
  EXPECT_EQ(m->ranks[0].comm_busy.picos(), 2500000);
  EXPECT_EQ(m->ranks[0].exposed_comm.picos(), 1500000);
  EXPECT_EQ(m->ranks[0].idle.picos(), 0);
  const CollectiveMetrics& c = m->collectives.at({"all_gather", ""});
  EXPECT_EQ(c.count, 1u);
  EXPECT_EQ(c.bytes, 200000u);
  EXPECT_EQ(c.time.picos(), 2500000);
}

// ---- errors ------------------------------------------------------------------

std::string ErrorOf(const TraceBuilder& b, EngineOptions options = {}) {
  const absl::StatusOr<Metrics> m = Replayed(b, options);
  EXPECT_FALSE(m.ok());
  return std::string(m.status().message());
}

TEST(Engine, CallsThatDisagreeNameBothNodes) {
  TraceBuilder b(2);
  b.Coll(0, T::kAllReduce, 100);
  b.Comp(1, 1);
  b.Coll(1, T::kAllReduce, 200);
  const std::string error = ErrorOf(b);
  EXPECT_THAT(error, HasSubstr("comm_size: 200 bytes, but 100 bytes"));
  EXPECT_THAT(error, HasSubstr("test.0.et"));
  EXPECT_THAT(error, HasSubstr("test.1.et"));
}

TEST(Engine, AMissingCallNamesTheGroupThePositionAndTheRank) {
  TraceBuilder b(2);
  b.groups["tp"] = {0, 1};
  b.Coll(0, T::kAllReduce, 100, {}, "tp");
  b.Coll(0, T::kAllReduce, 100, {0}, "tp");
  b.Coll(1, T::kAllReduce, 100, {}, "tp");
  const std::string error = ErrorOf(b);
  EXPECT_THAT(error, HasSubstr("group \"tp\": rank 1 never makes call 1"));
}

TEST(Engine, SendsWithoutReceivesAreListed) {
  TraceBuilder b(2);
  b.Send(0, 1, 100, 3);
  b.Recv(1, 0, 100, 4);
  const std::string error = ErrorOf(b);
  EXPECT_THAT(error, HasSubstr("send without receive"));
  EXPECT_THAT(error, HasSubstr("receive without send"));
  EXPECT_THAT(error, HasSubstr("tag 4"));
}

TEST(Engine, ACycleOfWaitingRanksIsTold) {
  // Each rank receives before it sends.
  TraceBuilder b(2);
  b.Recv(0, 1, 100, 0);
  b.Send(0, 1, 100, 0, {0});
  b.Recv(1, 0, 100, 0);
  b.Send(1, 0, 100, 0, {0});
  const std::string error = ErrorOf(b);
  EXPECT_THAT(error, HasSubstr("cannot finish: 4 of 4"));
  EXPECT_THAT(error, HasSubstr("rank 0 waits for the send of rank 1"));
  EXPECT_THAT(error, HasSubstr("rank 1 waits for the send of rank 0"));
}

TEST(Engine, MoreRanksThanDevices) {
  const TraceSet traces = *Everyone(3, T::kAllReduce, 8).Build();
  auto fabric = *MakeFabric("analytical", Mesh(2), FabricOptions());
  EXPECT_FALSE(Replay(traces, Recorded(traces), *fabric, {}).ok());
}

TEST(Engine, AnAbsurdDurationIsNotWrappedAround) {
  TraceBuilder b(1);
  b.Comp(0, 9000000000000);
  b.Comp(0, 9000000000000, {0});
  EXPECT_THAT(ErrorOf(b), HasSubstr("106 days"));
}

// ---- the second interpreter ----------------------------------------------------

TraceBuilder RandomTraces(std::mt19937& random, int ranks) {
  TraceBuilder b(ranks);
  b.groups["a"] = {0, 1};
  if (ranks > 2) b.groups["b"] = {ranks - 1, 0, 1};
  if (ranks > 3) b.groups["c"] = {1, 3};
  const auto deps = [&](int rank) {
    std::vector<uint64_t> list;
    const uint64_t n = b.NextId(rank);
    for (int i = static_cast<int>(random() % 3); i > 0 && n > 0; --i)
      list.push_back(n - 1 - random() % std::min<uint64_t>(n, 6));
    return list;
  };
  const auto maybe_lane = [&](et::Node& node, int one_in) {
    if (random() % one_in == 0) TraceBuilder::Int(&node, "stream", random() % 2);
  };
  const int ops = 5 + static_cast<int>(random() % 30);
  for (int i = 0; i < ops; ++i) {
    const int rank = static_cast<int>(random() % ranks);
    switch (random() % 6) {
      case 0:
      case 1: {
        et::Node& node = b.Comp(rank, random() % 4, deps(rank));
        maybe_lane(node, 3);
        if (random() % 4 == 0) TraceBuilder::Int(&node, "is_cpu_op", 1);
        break;
      }
      case 2: {
        const int to = static_cast<int>(random() % ranks);
        if (to == rank) break;
        const int tag = static_cast<int>(random() % 2);
        const int64_t bytes = static_cast<int64_t>(random() % 4) * 25000;  // half microseconds
        b.Send(rank, to, bytes, tag, deps(rank));
        b.Recv(to, rank, bytes, tag, deps(to));
        break;
      }
      case 3:
        TraceBuilder::Int(&b.Add(rank, random() % 2 ? et::MEM_LOAD_NODE : et::MEM_STORE_NODE, deps(rank)),
                          "tensor_size", 1000);
        break;
      case 4:
        b.Add(rank, random() % 2 ? et::METADATA_NODE : et::INVALID_NODE, deps(rank));
        break;
      default: {
        auto group = b.groups.begin();
        std::advance(group, random() % b.groups.size());
        const bool world = random() % 3 == 0;
        std::vector<int> members = group->second;
        if (world) {
          members.clear();
          for (int r = 0; r < ranks; ++r) members.push_back(r);
        }
        const T type = static_cast<T>(random() % kCollectiveTypes);
        const int64_t bytes = static_cast<int64_t>(random() % 50) * 5000;
        const bool lane = random() % 3 == 0;
        for (int r : members) {
          et::Node& node = b.Coll(r, type, bytes, deps(r), world ? "" : group->first);
          if (lane) TraceBuilder::Int(&node, "stream", 2);
        }
      }
    }
  }
  return b;
}

// ---- delays of dependencies (dep_delay_ns) ------------------------------------

NodeSpans SpansOf(const TraceBuilder& b, LanePolicy policy = LanePolicy::kRecorded) {
  NodeSpans spans;
  EngineOptions options = Lanes(policy);
  options.spans = &spans;
  const absl::StatusOr<Metrics> m = Replayed(b, options);
  EXPECT_TRUE(m.ok()) << m.status();
  return spans;
}

TEST(Engine, ADelayHoldsFromTheEndOfItsDependency) {
  TraceBuilder b(1);
  b.Comp(0, 3);
  b.Comp(0, 1);
  TraceBuilder::Delays(&b.Comp(0, 5, {0, 1}), {500, 4750});
  TraceBuilder::Delays(&b.Comp(0, 1, {2}), {0});
  const NodeSpans spans = SpansOf(b, LanePolicy::kUnlimited);
  EXPECT_EQ(spans[0][2].begin.picos(), 5750000);  // 1 us + 4.75 us, later than 3 us + 0.5 us
  EXPECT_EQ(spans[0][3].begin.picos(), 10750000);
}

TEST(Engine, ADelayOverBeforeTheLaneIsFreeCostsNothing) {
  TraceBuilder b(1);
  TraceBuilder::Int(&b.Comp(0, 1), "stream", 8);
  TraceBuilder::Int(&b.Comp(0, 10), "stream", 7);
  et::Node& late = b.Comp(0, 1, {0});  // may begin at 3 us; its stream is free at 10 us
  TraceBuilder::Int(&late, "stream", 7);
  TraceBuilder::Delays(&late, {2000});
  EXPECT_EQ(SpansOf(b)[0][2].begin.picos(), 10 * kUs);
  EXPECT_EQ(SpansOf(b, LanePolicy::kUnlimited)[0][2].begin.picos(), 3 * kUs);
}

TEST(Engine, ADelayedHeadHoldsItsStreamButNotAQueuedLane) {
  TraceBuilder b(1);
  TraceBuilder::Int(&b.Comp(0, 1), "is_cpu_op", 1);
  TraceBuilder::Delays(&b.Comp(0, 1, {0}), {4000});
  b.Comp(0, 1);
  EXPECT_EQ(SpansOf(b)[0][2].begin.picos(), 0);  // queued: the one that is ready
  EXPECT_EQ(SpansOf(b)[0][1].begin.picos(), 5 * kUs);
  for (int i : {1, 2}) {
    TraceBuilder::Int(&b.Nodes(0)[i], "stream", 7);
    b.Nodes(0)[i].set_start_time_micros(7 + i);
  }
  EXPECT_EQ(SpansOf(b)[0][1].begin.picos(), 5 * kUs);
  EXPECT_EQ(SpansOf(b)[0][2].begin.picos(), 6 * kUs);
}

TEST(Engine, DelaysOfNothingChangeNothing) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    TraceBuilder plain = RandomTraces(random, 3), zeros = plain;
    for (int r = 0; r < 3; ++r) {
      for (et::Node& node : zeros.Nodes(r)) {
        if (node.data_deps_size() > 0)
          TraceBuilder::Delays(&node, std::vector<int64_t>(node.data_deps_size(), 0));
      }
    }
    EngineOptions options = Lanes(static_cast<LanePolicy>(round % 3));
    options.memory.bandwidth = Bandwidth::BytesPerSecond(1000000000);
    const absl::StatusOr<Metrics> a = Replayed(plain, options), b = Replayed(zeros, options);
    ASSERT_EQ(a.ok(), b.ok()) << a.status() << b.status();
    if (!a.ok()) continue;
    EXPECT_EQ(a->makespan, b->makespan) << round;
  }
}

TEST(Engine, ADelayPastTheEndOfTimeIsTold) {
  TraceBuilder b(1);
  b.Comp(0, 9000000000000);
  TraceBuilder::Delays(&b.Comp(0, 1, {0}), {9000000000000000});
  EXPECT_THAT(ErrorOf(b), HasSubstr("106 days"));
}

// Delays of dependencies, on half of the traces; quarters of a microsecond, often none.
void AddRandomDelays(std::mt19937& random, int ranks, TraceBuilder* b) {
  if (random() % 2) return;
  for (int r = 0; r < ranks; ++r) {
    for (et::Node& node : b->Nodes(r)) {
      if (node.data_deps_size() == 0 || random() % 2) continue;
      std::vector<int64_t> delays;
      for (int i = 0; i < node.data_deps_size(); ++i) {
        delays.push_back(random() % 3 ? static_cast<int64_t>(random() % 8) * 250 : 0);
      }
      TraceBuilder::Delays(&node, delays);
    }
  }
}

// Recorded times of communication: transfers, durations, or none.
void AddRandomTransfers(std::mt19937& random, int ranks, TraceBuilder* b) {
  for (int r = 0; r < ranks; ++r) {
    for (et::Node& node : b->Nodes(r)) {
      if (node.type() < et::COMM_SEND_NODE) continue;
      if (random() % 4) node.set_duration_micros(random() % 5);
      if (random() % 2) TraceBuilder::Int(&node, "transfer_ns", static_cast<int64_t>(random() % 8) * 250);
    }
  }
}

TEST(Engine, AgreesWithTheSlowInterpreterOnRandomTraces) {
  std::mt19937 random(20261121);
  int finished = 0, stuck = 0;
  for (int round = 0; round < 3000; ++round) {
    const int ranks = 2 + static_cast<int>(random() % 4);
    TraceBuilder builder = RandomTraces(random, ranks);
    AddRandomDelays(random, ranks, &builder);
    AddRandomTransfers(random, ranks, &builder);
    const absl::StatusOr<TraceSet> traces = builder.Build();
    ASSERT_TRUE(traces.ok()) << traces.status();
    EngineOptions options = Lanes(static_cast<LanePolicy>(random() % 3));
    options.memory.bandwidth = Bandwidth::BytesPerSecond(1000000000);
    options.fast_paths = random() % 2;
    options.collectives.splits = 1 + static_cast<int>(random() % 2);
    if (random() % 3 == 0) options.collectives.step_overhead = Time::Nanos(250);
    if (random() % 3 == 0) options.collectives.reduce_bandwidth = Bandwidth::BytesPerSecond(30000000000);
    options.recorded_comm = random() % 4 == 0;
    NodeSpans spans;
    options.spans = &spans;
    auto fabric = *MakeFabric("analytical", Mesh(ranks), FabricOptions());
    const absl::StatusOr<Metrics> metrics = Replay(*traces, Recorded(*traces), *fabric, options);
    const std::optional<NodeSpans> want = Interpreter(*traces, options, kWire).Run();
    ASSERT_EQ(metrics.ok(), want.has_value()) << "round " << round << ": " << metrics.status();
    if (!metrics.ok()) {
      ++stuck;
      EXPECT_THAT(std::string(metrics.status().message()), HasSubstr("cannot finish"));
      continue;
    }
    ++finished;
    for (int r = 0; r < ranks; ++r) {
      for (size_t row = 0; row < spans[r].size(); ++row) {
        ASSERT_EQ(spans[r][row].begin.picos(), (*want)[r][row].begin.picos())
            << "round " << round << ", rank " << r << ", row " << row << ", lanes "
            << static_cast<int>(options.lanes);
        ASSERT_EQ(spans[r][row].end.picos(), (*want)[r][row].end.picos())
            << "round " << round << ", rank " << r << ", row " << row << ", lanes "
            << static_cast<int>(options.lanes);
      }
    }
  }
  EXPECT_GT(finished, 2400);
  RecordProperty("stuck", stuck);
}

}  // namespace
}  // namespace chakra
