#include "replay/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/memory_model.h"
#include "replay/engine/options.h"
#include "replay/engine/spans.h"
#include "test/replay/engine_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using T = CollectiveType;

// ---- one rule of the engine each -------------------------------------------

TEST(Engine, ChainTakesTheSumOfItsNodes) {
  TraceBuilder b(1);
  b.Comp(0, 3);
  b.Comp(0, 4, {0});
  b.Comp(0, 5, {1});
  EXPECT_EQ(Makespan(b), 12 * kUs);
}

TEST(Engine, ComputeLanesRunNodesOneByOne) {
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

TEST(Engine, RecordedStreamsKeepOrderAndOverlap) {
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

TEST(Engine, StrictStreamBlocksBehindItsHead) {
  TraceBuilder b(1);
  TraceBuilder::Int(&b.Comp(0, 5), "stream", 8);
  TraceBuilder::Int(&b.Comp(0, 1, {0}), "stream", 7);
  TraceBuilder::Int(&b.Comp(0, 10), "stream", 7);  // ready at 0, behind node 1
  EXPECT_EQ(Makespan(b), 16 * kUs);
  EXPECT_EQ(Makespan(b, Lanes(LanePolicy::kSingle)), 16 * kUs);
  EXPECT_EQ(Makespan(b, Lanes(LanePolicy::kUnlimited)), 10 * kUs);
}

TEST(Engine, QueuedLaneTakesFirstRecordedReadyNode) {
  TraceBuilder b(1);
  b.Comp(0, 2);       // 0
  b.Comp(0, 1, {0});  // 1: ready at 2
  b.Comp(0, 4);       // 2: ready at 0
  b.Comp(0, 8, {1});  // 3
  TraceBuilder::Int(&b.Comp(0, 100, {2}), "is_cpu_op", 1);
  // 0 [0,2]; 1 [2,3], before 2 because it was recorded first; 3 is ready at 3, but 2 was recorded first.
  EXPECT_EQ(Makespan(b, Lanes(LanePolicy::kSingle)), 107 * kUs);
}

TEST(Engine, ControlDependenciesHold) {
  TraceBuilder b(1);
  b.Comp(0, 3);
  b.Comp(0, 4).add_ctrl_deps(0);
  EXPECT_EQ(Makespan(b, Lanes(LanePolicy::kUnlimited)), 7 * kUs);
}

TEST(Engine, MetadataAndInvalidNodesTakeNoTime) {
  TraceBuilder b(1);
  b.Add(0, et::METADATA_NODE);
  b.Add(0, et::INVALID_NODE, {0});
  b.Comp(0, 4, {1});
  EXPECT_EQ(Makespan(b), 4 * kUs);
  EXPECT_EQ(Replayed(b, {})->invalid_nodes, 1u);
}

TEST(Engine, SendEndsWhenItsLastByteLeaves) {
  TraceBuilder b(2);
  b.Send(0, 1, 1000000, 5);
  b.Comp(0, 1, {0});  // after the last byte left
  b.Recv(1, 0, 1000000, 5);
  const absl::StatusOr<Metrics> m = Replayed(b, {});
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->ranks[1].end.picos(), 500000 + 20 * 1000000);
  EXPECT_EQ(m->ranks[0].end.picos(), 20 * 1000000 + kUs);
}

TEST(Engine, LateReceiveEndsAtOnce) {
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

TEST(Engine, MemoryNodesUseTheMemoryModel) {
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

TEST(Engine, CollectivesMatchClosedForms) {
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

TEST(Engine, OneRankAndEmptyCallsAreFree) {
  EXPECT_EQ(Makespan(Everyone(1, T::kAllReduce, 1 << 20)), 0);
  EXPECT_EQ(Makespan(Everyone(4, T::kAllReduce, 0)), 0);  // a library launches nothing
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

TEST(Engine, ClosedFormsEqualSimulationOfFlows) {
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
      auto fabric = *MakeMachine("analytical", topology, FabricOptions());
      const auto metrics = Replay(traces, Recorded(traces), *fabric, options);
      ASSERT_TRUE(metrics.ok()) << metrics.status();
      fast[i] = metrics->fast_collectives;
      traffic[i] = fabric->Traffic();
    }
    EXPECT_EQ(fast[0], bytes > 0 || type == T::kBarrier ? 1u : 0u);
    EXPECT_EQ(fast[1], 0u);
    for (int r = 0; r < n; ++r) EXPECT_EQ(spans[0][r][1].end, spans[1][r][1].end) << "round " << round;
    for (size_t d = 0; d < 2; ++d) EXPECT_EQ(traffic[0][d].bytes, traffic[1][d].bytes) << "round " << round;
  }
}

// ---- metrics -----------------------------------------------------------------

TEST(Engine, CountsBusyAndExposedTimes) {
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

TEST(Engine, DisagreeingCallsNameBothNodes) {
  TraceBuilder b(2);
  b.Coll(0, T::kAllReduce, 100);
  b.Comp(1, 1);
  b.Coll(1, T::kAllReduce, 200);
  const std::string error = ErrorOf(b);
  EXPECT_THAT(error, HasSubstr("comm_size: 200 bytes, but 100 bytes"));
  EXPECT_THAT(error, HasSubstr("test.0.et"));
  EXPECT_THAT(error, HasSubstr("test.1.et"));
}

TEST(Engine, MissingCallNamesGroupPositionAndRank) {
  TraceBuilder b(2);
  b.groups["tp"] = {0, 1};
  b.Coll(0, T::kAllReduce, 100, {}, "tp");
  b.Coll(0, T::kAllReduce, 100, {0}, "tp");
  b.Coll(1, T::kAllReduce, 100, {}, "tp");
  const std::string error = ErrorOf(b);
  EXPECT_THAT(error, HasSubstr("group \"tp\": rank 1 never makes call 1"));
}

TEST(Engine, ListsSendsWithoutReceives) {
  TraceBuilder b(2);
  b.Send(0, 1, 100, 3);
  b.Recv(1, 0, 100, 4);
  const std::string error = ErrorOf(b);
  EXPECT_THAT(error, HasSubstr("send without receive"));
  EXPECT_THAT(error, HasSubstr("receive without send"));
  EXPECT_THAT(error, HasSubstr("tag 4"));
}

TEST(Engine, NamesRanksThatWaitInACycle) {
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

TEST(Engine, RefusesMoreRanksThanDevices) {
  const TraceSet traces = *Everyone(3, T::kAllReduce, 8).Build();
  auto fabric = *MakeMachine("analytical", Mesh(2), FabricOptions());
  EXPECT_FALSE(Replay(traces, Recorded(traces), *fabric, {}).ok());
}

TEST(Engine, RefusesDurationsThatOverflow) {
  TraceBuilder b(1);
  b.Comp(0, 9000000000000);
  b.Comp(0, 9000000000000, {0});
  EXPECT_THAT(ErrorOf(b), HasSubstr("106 days"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
