#include "replay/engine/recorded/recorded_comm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "backends/registry.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"
#include "replay/engine/spans.h"
#include "test/replay/trace_builder.h"
#include "trace/model/distinct_graphs.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using T = CollectiveType;

constexpr int64_t kNs = 1000, kUs = 1000000;  // picoseconds

struct Outcome {
  absl::Status status;
  Metrics metrics;
  NodeSpans spans;
  int64_t begin(int rank, int row) const { return spans[rank][row].begin.picos(); }
  int64_t end(int rank, int row) const { return spans[rank][row].end.picos(); }
};

Outcome Replayed(const TraceBuilder& builder, LanePolicy lanes = LanePolicy::kRecorded, bool least = false,
                 bool of_one_trace = false) {
  Outcome run;
  absl::StatusOr<TraceSet> traces = builder.Build();
  EXPECT_TRUE(traces.ok()) << traces.status();
  traces->of_one_trace = of_one_trace;
  TopologyDimension d;
  d.kind = TopologyDimension::Kind::kFullyConnected;
  d.size = 4;
  d.bandwidth = Bandwidth::BytesPerSecond(1);  // a flow over the fabric would take very long
  auto fabric = *MakeMachine("analytical", *Topology::Make({d}), FabricOptions());
  std::vector<ComputeTimes> times;
  for (const Graph* graph : DistinctGraphs(*traces).graphs) {
    times.push_back(
        {graph->duration.ToVector(), std::vector<TimeSource>(graph->size(), TimeSource::kRecorded)});
  }
  EngineOptions options;
  options.lanes = lanes;
  options.recorded_comm = true;
  options.least_recorded_comm = least;
  options.spans = &run.spans;
  absl::StatusOr<Metrics> metrics = Replay(*traces, times, *fabric, options);
  run.status = metrics.status();
  if (metrics.ok()) run.metrics = *std::move(metrics);
  return run;
}

void Transfer(et::Node* node, int64_t nanos) { TraceBuilder::Int(node, "transfer_ns", nanos); }

// Two ranks that arrive after `first` and `second` microseconds at one call.
TraceBuilder Rendezvous(uint64_t first, uint64_t second) {
  TraceBuilder b(2);
  b.Comp(0, first);
  b.Comp(1, second);
  for (int r = 0; r < 2; ++r) b.Coll(r, T::kAllReduce, 1 << 20, {0});
  return b;
}

TEST(RecordedComm, CallBeginsWithLastMemberEndsByTransfer) {
  TraceBuilder b = Rendezvous(3, 10);
  Transfer(&b.Nodes(0)[1], 700);
  Transfer(&b.Nodes(1)[1], 900);
  const Outcome run = Replayed(b);
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.begin(0, 1), 3 * kUs);
  EXPECT_EQ(run.end(0, 1), 10 * kUs + 700 * kNs);
  EXPECT_EQ(run.end(1, 1), 10 * kUs + 900 * kNs);
  const CollectiveMetrics& m = run.metrics.collectives.at({"all_reduce", ""});
  EXPECT_EQ(m.count, 1u);
  EXPECT_EQ(m.ranks, 2);
  EXPECT_EQ(m.bytes, 1u << 20);
  EXPECT_EQ(m.time.picos(), 900 * kNs);
  EXPECT_EQ(m.wait.picos(), 7 * kUs);
  EXPECT_EQ(run.metrics.flows, 0u);
  EXPECT_EQ(run.metrics.ranks[0].comm_busy.picos(), 7 * kUs + 700 * kNs);  // waiting counts
}

TEST(RecordedComm, AllMembersWaitForTheLast) {
  TraceBuilder b = Rendezvous(10, 3);
  for (int r = 0; r < 2; ++r) Transfer(&b.Nodes(r)[1], 500);
  const Outcome run = Replayed(b);
  EXPECT_EQ(run.end(0, 1), 10 * kUs + 500 * kNs);
  EXPECT_EQ(run.end(1, 1), 10 * kUs + 500 * kNs);
}

TEST(RecordedComm, UsesDurationWithoutTransfer) {
  TraceBuilder b = Rendezvous(1, 2);
  b.Nodes(0)[1].set_duration_micros(6);
  Transfer(&b.Nodes(1)[1], 0);  // measured: nothing
  b.Nodes(1)[1].set_duration_micros(50);
  const Outcome run = Replayed(b);
  EXPECT_EQ(run.end(0, 1), 8 * kUs);
  EXPECT_EQ(run.end(1, 1), 2 * kUs);
}

TEST(RecordedComm, CallsOfAGroupPairInOrder) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    b.Comp(r, r == 0 ? 1 : 2);
    for (int i = 0; i < 2; ++i) Transfer(&b.Coll(r, T::kAllGather, 8, {static_cast<uint64_t>(i)}), 1000);
  }
  const Outcome run = Replayed(b);
  EXPECT_EQ(run.end(0, 1), 3 * kUs);
  EXPECT_EQ(run.end(0, 2), 4 * kUs);
  EXPECT_EQ(run.metrics.collectives.at({"all_gather", ""}).count, 2u);
}

TEST(RecordedComm, DoesNotWaitForMembersWithoutTrace) {
  TraceBuilder b = Rendezvous(1, 4);
  b.groups["g"] = {0, 1, 2, 3};
  for (int r = 0; r < 2; ++r) {
    TraceBuilder::Text(&b.Nodes(r)[1], "pg_name", "g");
    Transfer(&b.Nodes(r)[1], 300);
  }
  const Outcome run = Replayed(b);
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.end(0, 1), 4 * kUs + 300 * kNs);
  EXPECT_EQ(run.metrics.collectives.at({"all_reduce", "g"}).ranks, 4);
  EXPECT_THAT(
      run.metrics.warnings,
      ElementsAre(HasSubstr("1 collective calls have members without a trace"),
                  HasSubstr("2 communication nodes were recorded without a trace of all ranks: the 600 ns "
                            "include waits for ranks without a trace (the minimum of the repeats: 600 ns)")));
}

// The calls of one rank of four: two all-reduces of a size, one of another, a gather with another root.
TraceBuilder OneRankOfFour() {
  TraceBuilder b(1);
  b.groups["g"] = {0, 1, 2, 3};
  Transfer(&b.Coll(0, T::kAllReduce, 64, {}, "g"), 900);
  Transfer(&b.Coll(0, T::kAllReduce, 64, {0}, "g"), 300);
  Transfer(&b.Coll(0, T::kAllReduce, 128, {1}, "g"), 700);
  Transfer(&b.Coll(0, T::kAllGather, 64, {2}, "g"), 500);
  return b;
}

TEST(RecordedComm, UnchangedRunKeepsWaitsAndWarns) {
  const Outcome run = Replayed(OneRankOfFour());
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.end(0, 0), 900 * kNs);
  EXPECT_EQ(run.end(0, 3), 2400 * kNs);
  ASSERT_EQ(run.metrics.warnings.size(), 2u);
  EXPECT_THAT(run.metrics.warnings[1],
              HasSubstr("the 2.4 us include waits for ranks without a trace (the minimum of "
                        "the repeats: 1.8 us)"));
}

TEST(RecordedComm, ChangedRunUsesLeastOfRepeats) {
  const Outcome run = Replayed(OneRankOfFour(), LanePolicy::kRecorded, true);
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.end(0, 0), 300 * kNs);
  EXPECT_EQ(run.end(0, 1), 600 * kNs);
  EXPECT_EQ(run.end(0, 2), 1300 * kNs);  // without a repeat of its size
  EXPECT_EQ(run.end(0, 3), 1800 * kNs);
  EXPECT_THAT(run.metrics.warnings[1], HasSubstr("each takes the minimum of its repeats, 1.8 us in all"));
}

TEST(RecordedComm, KeepsTransfersIfAllRanksHaveTraces) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    Transfer(&b.Coll(r, T::kAllReduce, 64), 900);
    Transfer(&b.Coll(r, T::kAllReduce, 64, {0}), 300);
  }
  for (const bool least : {false, true}) {
    const Outcome run = Replayed(b, LanePolicy::kRecorded, least);
    EXPECT_EQ(run.end(0, 1), 1200 * kNs) << least;
    EXPECT_THAT(run.metrics.warnings, IsEmpty());
  }
  // Copies of one trace reach a call together, but the times of the trace contain its waits.
  EXPECT_EQ(Replayed(b, LanePolicy::kRecorded, true, true).end(1, 1), 600 * kNs);
}

TEST(RecordedComm, GroupsMessageRepeatsByPeerAndSize) {
  TraceBuilder b(1);
  Transfer(&b.Send(0, 1, 64, 5), 900);
  Transfer(&b.Send(0, 1, 64, 6, {0}), 200);
  Transfer(&b.Send(0, 2, 64, 6, {1}), 700);
  Transfer(&b.Recv(0, 1, 64, 7, {2}), 400);
  EXPECT_EQ(Replayed(b).end(0, 3), 2200 * kNs);
  EXPECT_EQ(Replayed(b, LanePolicy::kRecorded, true).end(0, 3), 1500 * kNs);
}

TEST(RecordedComm, CallProceedsWithoutMissingMember) {
  TraceBuilder b = Rendezvous(1, 4);
  for (int r = 0; r < 2; ++r) Transfer(&b.Nodes(r)[1], 300);
  Transfer(&b.Coll(0, T::kAllReduce, 8, {1}), 100);
  const Outcome run = Replayed(b);
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.end(0, 2), 4 * kUs + 400 * kNs);
  EXPECT_THAT(run.metrics.warnings, ElementsAre(HasSubstr("missing on some of their traced members")));
}

TEST(RecordedComm, DisagreeingCallsAreErrors) {
  TraceBuilder b(2);
  b.Coll(0, T::kAllReduce, 8);
  b.Coll(1, T::kAllReduce, 16);
  EXPECT_THAT(std::string(Replayed(b).status.message()), HasSubstr("comm_size: 16 bytes, but 8 bytes"));
}

TEST(RecordedComm, MessageBeginsWithItsLastSide) {
  for (const bool sender_late : {false, true}) {
    TraceBuilder b(2);
    b.Comp(0, sender_late ? 9 : 2);
    b.Comp(1, sender_late ? 2 : 9);
    Transfer(&b.Send(0, 1, 64, 5, {0}), 400);
    Transfer(&b.Recv(1, 0, 64, 5, {0}), 600);
    const Outcome run = Replayed(b);
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.end(0, 1), 9 * kUs + 400 * kNs) << sender_late;
    EXPECT_EQ(run.end(1, 1), 9 * kUs + 600 * kNs) << sender_late;
    const CollectiveMetrics& m = run.metrics.collectives.at({"send_recv", ""});
    EXPECT_EQ(m.count, 1u);
    EXPECT_EQ(m.bytes, 64u);
    EXPECT_EQ(m.time.picos(), 600 * kNs);
    EXPECT_EQ(m.wait.picos(), 7 * kUs);
  }
}

TEST(RecordedComm, UnpairedMessageTakesItsRecordedTime) {
  TraceBuilder b(2);
  Transfer(&b.Send(0, 1, 64, 5), 400);   // no rank receives with this tag
  Transfer(&b.Recv(1, 3, 64, 6), 800);   // rank 3 has no trace
  Transfer(&b.Send(1, 0, 64, 5), 1600);  // nor is this received
  const Outcome run = Replayed(b);
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.end(0, 0), 400 * kNs);
  EXPECT_EQ(run.end(1, 0), 800 * kNs);
  EXPECT_EQ(run.end(1, 1), 1600 * kNs);
  EXPECT_THAT(run.metrics.warnings, ElementsAre(HasSubstr("3 messages have one side only"),
                                                HasSubstr("3 communication nodes were recorded without")));
}

TEST(RecordedComm, NamesRanksOfAWaitCycle) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    const std::string mine = r == 0 ? "a" : "b", other = r == 0 ? "b" : "a";
    b.Coll(r, T::kAllReduce, 8, {}, mine);
    b.Coll(r, T::kAllReduce, 8, {0}, other);
  }
  b.groups = {{"a", {0, 1}}, {"b", {0, 1}}};
  const std::string error(Replayed(b).status.message());
  EXPECT_THAT(error, HasSubstr("cannot finish: 4 of 4"));
  EXPECT_THAT(error, HasSubstr("rank 0 waits for rank 1 in call 0, all_reduce"));
  EXPECT_THAT(error, HasSubstr("rank 1 waits for rank 0 in call 0, all_reduce"));
}

TEST(RecordedComm, NamesRanksThatBothSendFirst) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    b.Send(r, 1 - r, 64, 0);
    b.Recv(r, 1 - r, 64, 0, {0});
  }
  const std::string error(Replayed(b).status.message());
  EXPECT_THAT(error, HasSubstr("cannot finish: 4 of 4"));
  EXPECT_THAT(error, HasSubstr("rank 0 waits for the receive of rank 1"));
  EXPECT_THAT(error, HasSubstr("rank 1 waits for the receive of rank 0"));
}

TEST(RecordedComm, RefusesOrWarnsWithoutRecordedTimes) {
  std::vector<std::string> warnings;
  TraceBuilder none = Rendezvous(1, 1);
  const std::string error(CheckRecordedComm(*none.Build(), &warnings).message());
  EXPECT_THAT(error,
              HasSubstr("no recorded durations of communication (2 nodes; the first is rank 0, node 1"));
  EXPECT_THAT(warnings, IsEmpty());
  TraceBuilder some = Rendezvous(1, 1);
  Transfer(&some.Nodes(0)[1], 0);
  EXPECT_TRUE(CheckRecordedComm(*some.Build(), &warnings).ok());
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("1 communication nodes have no recorded duration")));
  EXPECT_THAT(warnings[0], HasSubstr("rank 1, node 1"));
  some.Nodes(1)[1].set_duration_micros(1);
  warnings.clear();
  EXPECT_TRUE(CheckRecordedComm(*some.Build(), &warnings).ok());
  EXPECT_TRUE(CheckRecordedComm(TraceSet(), &warnings).ok());
  EXPECT_THAT(warnings, IsEmpty());
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
