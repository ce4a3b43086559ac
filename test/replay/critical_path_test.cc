// The critical path has no gap, consists of known times, and is a bound on other runs.
#include "replay/engine/causes/critical_path.h"

#include <gtest/gtest.h>

#include <random>

#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/memory_model.h"
#include "replay/engine/options.h"
#include "test/replay/engine_testing.h"
#include "test/replay/random_traces.h"
#include "trace/model/distinct_graphs.h"

namespace chakra::CHAKRA_FILE {
namespace {

struct PathRun {
  TraceSet traces;
  std::vector<ComputeTimes> times;
  absl::StatusOr<Metrics> metrics = absl::UnknownError("");
  CriticalPath path;
};

PathRun RunPath(const TraceBuilder& builder, EngineOptions options, const char* fabric_name = "analytical") {
  PathRun run;
  run.traces = *builder.Build();
  run.times = Recorded(run.traces);
  options.path = &run.path;
  auto fabric = *MakeMachine(fabric_name, Mesh(static_cast<int>(run.traces.ranks.size())), FabricOptions());
  run.metrics = Replay(run.traces, run.times, *fabric, options);
  return run;
}

int64_t KnownParts(const PathSegment& s) {
  Time known = s.parts.software + s.parts.reduce;
  for (const auto& [kind, links] : s.parts.links) known += links.latency + links.transfer;
  return known.picos();
}

// The path goes from 0 to the makespan without a gap, and no segment is empty.
void ExpectWhole(const PathRun& run) {
  Time at;
  for (const PathSegment& s : run.path.segments) {
    ASSERT_EQ(s.begin, at);
    ASSERT_GT(s.end, s.begin);
    at = s.end;
  }
  ASSERT_EQ(at, run.metrics->makespan);
}

// Each segment takes the time that is known for it beforehand.
void ExpectKnownCosts(const PathRun& run, const EngineOptions& options) {
  for (const PathSegment& s : run.path.segments) {
    if (s.row == kNoRow) continue;
    const Graph& graph = *run.traces.ranks[s.rank].graph;
    const NodeType type = graph.type[s.row];
    switch (s.kind) {
      case PathKind::kNode:
        if (type == NodeType::kComp) {
          EXPECT_EQ(s.length(), graph.duration[s.row]);
        } else if (type == NodeType::kMemLoad || type == NodeType::kMemStore) {
          EXPECT_EQ(s.length(),
                    options.memory.latency + TransferTime(graph.work[graph.payload[s.row]].tensor_bytes,
                                                          options.memory.bandwidth));
        } else {
          ASSERT_TRUE(options.recorded_comm) << "a simulated node of communication takes no time of its own";
        }
        break;
      case PathKind::kDelay: {
        const auto from = graph.child_delay.begin();
        EXPECT_NE(std::find(from, graph.child_delay.end(), s.length()), graph.child_delay.end());
        break;
      }
      case PathKind::kCollective:
      case PathKind::kMessage:
        // Nothing waits on a fabric without contention. If chunks differ by a byte (20 ps), the smaller one
        // arrives first, and counts as the first.
        EXPECT_LE(KnownParts(s), s.length().picos());
        EXPECT_GE(KnownParts(s) + 100, s.length().picos());
        break;
      case PathKind::kStart:
      case PathKind::kDrain:
        ADD_FAILURE() << "no rank starts late, and nothing is left at the end";
    }
  }
}

EngineOptions RandomOptions(std::mt19937& random) {
  EngineOptions options = Lanes(static_cast<LanePolicy>(random() % 3));
  options.memory.kind = random() % 2 ? MemoryModel::Kind::kPool : MemoryModel::Kind::kLocal;
  options.memory.bandwidth = Bandwidth::BytesPerSecond(1000000000);
  options.memory.latency = Time::Nanos(random() % 2 * 300);
  options.fast_paths = random() % 2;
  options.collectives.splits = 1 + static_cast<int>(random() % 2);
  if (random() % 3 == 0) options.collectives.step_overhead = Time::Nanos(250);
  if (random() % 3 == 0) options.collectives.reduce_bandwidth = Bandwidth::BytesPerSecond(30000000000);
  options.recorded_comm = random() % 4 == 0;
  return options;
}

TEST(CriticalPath, HasNoGapsAndOnlyKnownCosts) {
  std::mt19937 random(7);
  int finished = 0, closed = 0;
  for (int round = 0; round < 1500; ++round) {
    const int ranks = 2 + static_cast<int>(random() % 4);
    TraceBuilder builder = RandomTraces(random, ranks);
    AddRandomDelays(random, ranks, &builder);
    AddRandomTransfers(random, ranks, &builder);
    const EngineOptions options = RandomOptions(random);
    const absl::StatusOr<Metrics> plain = Replayed(builder, options);
    const PathRun run = RunPath(builder, options);
    ASSERT_EQ(plain.ok(), run.metrics.ok()) << run.metrics.status();
    if (!plain.ok()) continue;
    ++finished;
    closed += run.metrics->fast_collectives > 0;
    ASSERT_EQ(plain->makespan, run.metrics->makespan) << "looking changes nothing";
    ASSERT_NO_FATAL_FAILURE(ExpectWhole(run)) << round;
    ASSERT_NO_FATAL_FAILURE(ExpectKnownCosts(run, options)) << round;
    ASSERT_FALSE(HasNonfatalFailure()) << round;
  }
  EXPECT_GT(finished, 1000);
  EXPECT_GT(closed, 200);
}

// The path is one of many. In another run it takes the new times of its parts, and the run takes that or
// longer. There are no lanes here, because their order may change.
TEST(CriticalPath, BoundsRunsWithOtherComputeTimes) {
  std::mt19937 random(11);
  int shorter = 0;
  for (int round = 0; round < 400; ++round) {
    const int ranks = 2 + static_cast<int>(random() % 4);
    TraceBuilder builder = RandomTraces(random, ranks);
    AddRandomDelays(random, ranks, &builder);
    EngineOptions options = RandomOptions(random);
    options.lanes = LanePolicy::kUnlimited;
    options.memory.kind = MemoryModel::Kind::kLocal;
    options.recorded_comm = false;
    const PathRun run = RunPath(builder, options);
    if (!run.metrics.ok()) continue;
    for (int other = 0; other < 4; ++other) {
      std::vector<ComputeTimes> times = run.times;
      for (ComputeTimes& t : times) {
        for (size_t row = 0; row < t.time.size(); ++row)
          t.time[row] = Time::Picos(t.time[row].picos() * static_cast<int64_t>(random() % 5) / 2);
      }
      const DistinctGraphs distinct(run.traces);
      int64_t predicted = run.metrics->makespan.picos();
      for (const PathSegment& s : run.path.segments) {
        if (s.kind != PathKind::kNode || s.row == kNoRow) continue;
        const uint32_t graph = distinct.of_rank[s.rank];
        predicted += (times[graph].time[s.row] - run.times[graph].time[s.row]).picos();
      }
      auto fabric = *MakeMachine("analytical", Mesh(ranks), FabricOptions());
      const absl::StatusOr<Metrics> then = Replay(run.traces, times, *fabric, options);
      ASSERT_TRUE(then.ok());
      ASSERT_GE(then->makespan.picos(), predicted) << round;
      shorter += then->makespan < run.metrics->makespan;
    }
  }
  EXPECT_GT(shorter, 100);
}

TEST(CriticalPath, FollowsTheRankThatArrivedLast) {
  TraceBuilder b(2);
  b.Comp(0, 1, {});
  b.Comp(1, 5, {});
  b.Coll(0, CollectiveType::kAllReduce, 100000, {0});
  b.Coll(1, CollectiveType::kAllReduce, 100000, {0});
  b.Comp(0, 3, {1});
  const PathRun run = RunPath(b, {});
  ASSERT_TRUE(run.metrics.ok()) << run.metrics.status();
  ExpectWhole(run);
  ASSERT_EQ(run.path.segments.size(), 3u);
  const PathSegment &work = run.path.segments[0], &call = run.path.segments[1], &last = run.path.segments[2];
  EXPECT_EQ(work.kind, PathKind::kNode);
  EXPECT_EQ(work.rank, 1u);
  EXPECT_EQ(work.length().picos(), 5 * kUs);
  EXPECT_EQ(call.kind, PathKind::kCollective);
  EXPECT_EQ(call.from_rank, 1u);
  EXPECT_EQ(call.rank, 0u);
  EXPECT_EQ(call.type, CollectiveType::kAllReduce);
  // A ring of two: rank 0 has sent its half long ago, so that rank 1 sends both of its messages at once.
  EXPECT_EQ(call.parts.links.at(0).latency.picos(), 500000);
  EXPECT_EQ(call.parts.links.at(0).transfer.picos(), 50000 * 20);
  EXPECT_EQ(last.rank, 0u);
  EXPECT_EQ(last.length().picos(), 3 * kUs);
}

TEST(CriticalPath, GoesThroughTheSenderOfAwaitedMessages) {
  TraceBuilder b(2);
  b.Comp(0, 4, {});
  b.Send(0, 1, 50000, 0, {0});
  b.Recv(1, 0, 50000, 0, {});
  b.Comp(1, 2, {0});
  const PathRun run = RunPath(b, {});
  ASSERT_TRUE(run.metrics.ok()) << run.metrics.status();
  ExpectWhole(run);
  ASSERT_EQ(run.path.segments.size(), 3u);
  EXPECT_EQ(run.path.segments[0].rank, 0u);
  EXPECT_EQ(run.path.segments[1].kind, PathKind::kMessage);
  EXPECT_EQ(run.path.segments[1].from_rank, 0u);
  EXPECT_EQ(run.path.segments[1].rank, 1u);
  EXPECT_EQ(run.path.segments[1].length().picos(), 500000 + kUs);
  EXPECT_EQ(run.path.segments[2].rank, 1u);
}

TEST(CriticalPath, LateReceivesExcludeTheirMessage) {
  TraceBuilder b(2);
  b.Send(0, 1, 50000, 0, {});
  b.Comp(1, 9, {});
  b.Recv(1, 0, 50000, 0, {0});
  b.Comp(1, 2, {1});
  const PathRun run = RunPath(b, {});
  ASSERT_TRUE(run.metrics.ok()) << run.metrics.status();
  ExpectWhole(run);
  for (const PathSegment& s : run.path.segments) EXPECT_EQ(s.kind, PathKind::kNode);
}

TEST(CriticalPath, SharedLinksCountAsWaiting) {
  TraceBuilder b(2);
  b.Send(0, 1, 500000, 0, {});
  b.Send(0, 1, 500000, 1, {});
  b.Recv(1, 0, 500000, 0, {});
  b.Recv(1, 0, 500000, 1, {});
  const PathRun run = RunPath(b, Lanes(LanePolicy::kUnlimited), "fluid");
  ASSERT_TRUE(run.metrics.ok()) << run.metrics.status();
  ExpectWhole(run);
  ASSERT_EQ(run.path.segments.size(), 1u);
  EXPECT_EQ(run.path.segments[0].parts.links.at(0).transfer.picos(), 10 * kUs);
  EXPECT_EQ(run.path.segments[0].waiting().picos(), 10 * kUs);
}

TEST(CriticalPath, IncludesLateStartsOfRanks) {
  TraceBuilder b(2);
  b.Comp(0, 4, {});
  b.Comp(1, 4, {});
  EngineOptions options;
  options.start = {Time::Zero(), Time::Micros(3)};
  const PathRun run = RunPath(b, options);
  ASSERT_TRUE(run.metrics.ok()) << run.metrics.status();
  ExpectWhole(run);
  ASSERT_EQ(run.path.segments.size(), 2u);
  EXPECT_EQ(run.path.segments[0].kind, PathKind::kStart);
  EXPECT_EQ(run.path.segments[0].rank, 1u);
  EXPECT_EQ(run.path.segments[1].kind, PathKind::kNode);
}

TEST(CriticalPath, HasNoGapsOnFabricsWithContention) {
  for (const char* fabric : {"analytical-fifo", "fluid", "packet"}) {
    std::mt19937 random(5);
    int finished = 0;
    for (int round = 0; round < 60; ++round) {
      const int ranks = 2 + static_cast<int>(random() % 4);
      TraceBuilder builder = RandomTraces(random, ranks);
      AddRandomDelays(random, ranks, &builder);
      EngineOptions options = RandomOptions(random);
      options.recorded_comm = false;
      const absl::StatusOr<Metrics> plain = Replayed(builder, options, fabric);
      const PathRun run = RunPath(builder, options, fabric);
      ASSERT_EQ(plain.ok(), run.metrics.ok()) << run.metrics.status();
      if (!plain.ok()) continue;
      ++finished;
      ASSERT_EQ(plain->makespan, run.metrics->makespan) << fabric;
      ASSERT_NO_FATAL_FAILURE(ExpectWhole(run)) << fabric << " " << round;
    }
    EXPECT_GT(finished, 30) << fabric;
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
