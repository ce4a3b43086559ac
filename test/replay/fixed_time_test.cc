// The fixed time of runs: their time if only delays and waits that are taken as recorded take any.
#include "replay/engine/causes/fixed_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "replay/engine/causes/critical_path.h"
#include "test/replay/engine_testing.h"
#include "test/replay/random_traces.h"

namespace chakra::CHAKRA_FILE {
namespace {

struct Ran {
  TraceSet traces;
  std::vector<ComputeTimes> times;
  absl::StatusOr<Metrics> metrics = absl::UnknownError("");
  CriticalPath path;
  FixedTimeRun fixed_time;
};

// `wait`: the time of the first row of the first graph in the replay; Never(): its duration.
Ran RunFixedTime(const TraceBuilder& builder, EngineOptions options, Time wait = Time::Never()) {
  Ran run;
  run.traces = *builder.Build();
  run.times = Recorded(run.traces);
  if (wait != Time::Never()) run.times[0].time[0] = wait;
  options.path = &run.path;
  options.fixed_time = &run.fixed_time;
  auto fabric = *MakeMachine("analytical", Mesh(static_cast<int>(run.traces.ranks.size())), FabricOptions());
  run.metrics = Replay(run.traces, run.times, *fabric, options);
  return run;
}

EngineOptions RecordedComm() {
  EngineOptions options = Lanes(LanePolicy::kUnlimited);
  options.recorded_comm = true;
  return options;
}

// The same dependencies, without durations and transfers.
TraceBuilder WithoutTimes(TraceBuilder b, int ranks) {
  for (int r = 0; r < ranks; ++r) {
    for (et::Node& node : b.Nodes(r)) {
      node.set_duration_micros(0);
      for (et::AttributeProto& a : *node.mutable_attr()) {
        if (a.name() == "transfer_ns") a.set_int64_val(0);
      }
    }
  }
  return b;
}

// Replaces memory nodes, whose time does not come from their duration.
void WithoutStorage(TraceBuilder* b, int ranks) {
  for (int r = 0; r < ranks; ++r) {
    for (et::Node& node : b->Nodes(r)) {
      if (node.type() == et::MEM_LOAD_NODE || node.type() == et::MEM_STORE_NODE) node.set_type(et::COMP_NODE);
    }
  }
}

void AddEagerSends(std::mt19937& random, int ranks, TraceBuilder* b) {
  for (int r = 0; r < ranks; ++r) {
    for (et::Node& node : b->Nodes(r)) {
      if (node.type() == et::COMM_SEND_NODE && random() % 2) TraceBuilder::Int(&node, "eager", 1);
    }
  }
}

TEST(FixedTime, EqualsReplayWithoutDurations) {
  std::mt19937 random(20261123);
  int finished = 0, delayed = 0;
  for (int round = 0; round < 1500; ++round) {
    const int ranks = 1 + static_cast<int>(random() % 5);
    TraceBuilder builder = ranks == 1 ? TraceBuilder(1) : RandomTraces(random, ranks);
    if (ranks == 1) {
      for (int i = 0; i < 20; ++i)
        builder.Comp(
            0, 1,
            i < 2 ? std::vector<uint64_t>() : std::vector<uint64_t>{random() % static_cast<uint64_t>(i)});
    }
    AddRandomDelays(random, ranks, &builder);
    AddRandomTransfers(random, ranks, &builder);
    AddEagerSends(random, ranks, &builder);
    WithoutStorage(&builder, ranks);
    const Ran run = RunFixedTime(builder, RecordedComm());
    if (!run.metrics.ok()) continue;
    const absl::StatusOr<Metrics> bare = Replayed(WithoutTimes(builder, ranks), RecordedComm());
    ASSERT_TRUE(bare.ok()) << bare.status();
    ++finished;
    ASSERT_EQ(run.fixed_time.ranks.size(), bare->ranks.size());
    for (int r = 0; r < ranks; ++r) {
      ASSERT_EQ(run.fixed_time.ranks[r].total(), bare->ranks[r].end) << "round " << round << ", rank " << r;
      ASSERT_LE(run.fixed_time.ranks[r].total(), run.metrics->ranks[r].end);
    }
    delayed += bare->makespan > Time::Zero();
  }
  EXPECT_GT(finished, 1000);
  EXPECT_GT(delayed, 400);
}

TEST(FixedTime, PathHasTheDelaysOnIt) {
  std::mt19937 random(7);
  int some = 0;
  for (int round = 0; round < 500; ++round) {
    const int ranks = 2 + static_cast<int>(random() % 3);
    TraceBuilder builder = RandomTraces(random, ranks);
    AddRandomDelays(random, ranks, &builder);
    EngineOptions options = Lanes(static_cast<LanePolicy>(random() % 3));
    options.memory.bandwidth = Bandwidth::BytesPerSecond(1000000000);
    const Ran run = RunFixedTime(builder, options);
    if (!run.metrics.ok()) continue;
    Time delays;
    for (const PathSegment& s : run.path.segments) {
      if (s.kind == PathKind::kDelay) delays += s.length();
    }
    ASSERT_EQ(run.fixed_time.path.total(), delays) << round;
    some += delays > Time::Zero();
  }
  EXPECT_GT(some, 100);
}

// A delay before a node, by kind.
void Delay(et::Node* node, const std::vector<int64_t>& nanos, const char* kinds) {
  TraceBuilder::Delays(node, nanos);
  TraceBuilder::Text(node, "dep_kinds", kinds);
}

TEST(FixedTime, PathTakesTheDecidingDelay) {
  TraceBuilder b(1);
  b.Comp(0, 3);
  b.Comp(0, 9);
  Delay(&b.Comp(0, 1, {0, 1}), {2000, 2000}, "launch,thread");
  const Ran run = RunFixedTime(b, Lanes(LanePolicy::kUnlimited));
  ASSERT_TRUE(run.metrics.ok());
  FixedTime want;
  want[FixedTimeCause::kHostGaps] = Time::Micros(2);
  EXPECT_EQ(run.fixed_time.path, want);
}

// Rank 1 reaches the all-reduce last, because of its gap. Rank 0 waits for rank 1, and has a gap after the
// call.
TraceBuilder TwoRanks() {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    b.Comp(r, 5);
    et::Node& reduce = b.Coll(r, CollectiveType::kAllReduce, 1000, {0});
    reduce.set_duration_micros(4);
    if (r == 1) Delay(&reduce, {7000}, "stream");
  }
  Delay(&b.Comp(0, 1, {1}), {3000}, "thread");
  return b;
}

TEST(FixedTime, PassesFromRankToRank) {
  const Ran run = RunFixedTime(TwoRanks(), RecordedComm());
  ASSERT_TRUE(run.metrics.ok());
  FixedTime rank1;
  rank1[FixedTimeCause::kStreamGaps] = Time::Micros(7);
  FixedTime rank0 = rank1;
  rank0[FixedTimeCause::kHostGaps] = Time::Micros(3);
  EXPECT_EQ(run.fixed_time.ranks[0], rank0);
  EXPECT_EQ(run.fixed_time.ranks[1], rank1);
  EXPECT_EQ(run.fixed_time.path, rank0);
}

TEST(FixedTime, SimulatedSendDoesNotWaitForReceive) {
  TraceBuilder b(2);
  b.Comp(0, 1);
  b.Send(0, 1, 1000, 0, {0});
  b.Comp(1, 1);
  Delay(&b.Recv(1, 0, 1000, 0, {0}), {6000}, "thread");
  const Ran simulated = RunFixedTime(b, Lanes(LanePolicy::kUnlimited));
  ASSERT_TRUE(simulated.metrics.ok());
  EXPECT_EQ(simulated.fixed_time.ranks[0].total(), Time::Zero());
  EXPECT_EQ(simulated.fixed_time.ranks[1].total(), Time::Micros(6));
  EXPECT_EQ(RunFixedTime(b, RecordedComm()).fixed_time.ranks[0].total(), Time::Micros(6));
}

TEST(FixedTime, RecordedWaitsTakeTheirReplayedTime) {
  TraceBuilder b(1);
  et::Node& sync = b.Comp(0, 50);
  sync.set_name("cudaDeviceSynchronize");
  TraceBuilder::Int(&sync, "is_cpu_op", 1);
  Delay(&b.Comp(0, 1, {0}), {1000}, "thread");
  for (const int64_t micros : {50, 30}) {
    const Ran run = RunFixedTime(b, Lanes(LanePolicy::kUnlimited), Time::Micros(micros));
    FixedTime want;
    want[FixedTimeCause::kHostGaps] = Time::Micros(1);
    want[FixedTimeCause::kRecordedWaits] = Time::Micros(micros - 10);
    EXPECT_EQ(run.fixed_time.ranks[0], want);
    EXPECT_EQ(run.fixed_time.path, want);
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
