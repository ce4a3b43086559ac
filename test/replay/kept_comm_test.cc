// Communication that nothing can price: of unknown kind or group (comm_kind on a COMP node), or of unknown
// size.
#include "replay/engine/measure/kept_comm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/compute/collect.h"
#include "replay/compute/compute.h"
#include "replay/compute/kernel_table.h"
#include "replay/engine/lanes.h"
#include "replay/engine/measure/name_times.h"
#include "replay/report/report.h"
#include "replay/run/description.h"
#include "test/replay/engine_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using T = CollectiveType;

et::Node& AddDeviceNode(TraceBuilder* b, int rank, uint64_t micros, const std::string& name, int stream,
                        std::vector<uint64_t> deps = {}) {
  et::Node& node = b->Comp(rank, micros, std::move(deps));
  node.set_name(name);
  TraceBuilder::Int(&node, "stream", stream);
  TraceBuilder::Int(&node, "is_cpu_op", 0);
  return node;
}

et::Node& AddKept(TraceBuilder* b, int rank, uint64_t micros, const std::string& kind,
                  std::vector<uint64_t> deps = {}) {
  et::Node& node = AddDeviceNode(b, rank, micros, "ncclDevKernel_Generic", 20, std::move(deps));
  TraceBuilder::Text(&node, "comm_kind", kind);
  return node;
}

// Each rank computes for 10 us, then communicates for 30 us and computes for 5 us at the same time.
TraceBuilder KeptStep(int ranks) {
  TraceBuilder b(ranks);
  for (int r = 0; r < ranks; ++r) {
    AddDeviceNode(&b, r, 10, "gemm", 7);
    AddKept(&b, r, 30, "unknown", {0});
    AddDeviceNode(&b, r, 5, "gemm", 7, {0});
  }
  return b;
}

TEST(KeptComm, CountsAsCommunication) {
  for (const bool recorded : {true, false}) {
    EngineOptions options;
    options.recorded_comm = recorded;
    const auto m = Replayed(KeptStep(2), options);
    ASSERT_TRUE(m.ok()) << m.status();
    EXPECT_EQ(m->makespan, Time::Micros(40)) << "the recorded time, on any machine";
    EXPECT_EQ(m->ranks[1].compute_busy, Time::Micros(15));
    EXPECT_EQ(m->ranks[1].comm_busy, Time::Micros(30));
    EXPECT_EQ(m->ranks[1].exposed_comm, Time::Micros(25));
    EXPECT_EQ(m->kept.nodes, 2u);
    EXPECT_EQ(m->kept.time, Time::Micros(60));
    const CollectiveMetrics& row = m->collectives.at({"unknown", "(not known)"});
    EXPECT_EQ(row.count, 2u);
    EXPECT_EQ(row.time, Time::Micros(60));
    EXPECT_EQ(row.algorithm, "recorded");
  }
}

TEST(KeptComm, BoundsARunAsCommunication) {
  const auto m = Replayed(KeptStep(1), {});
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_THAT(
      DescribeBound(*m, *KeptStep(1).Build()),
      HasSubstr("bound by exposed communication: 62.5 % (most: unknown on a group that is not known)"));
}

TEST(KeptComm, RunsOnTheCommunicationLane) {
  TraceBuilder b(1);
  TraceBuilder::Text(&b.Comp(0, 30), "comm_kind", "all_reduce");
  const TraceSet traces = *b.Build();
  const Graph& g = *traces.ranks[0].graph;
  ASSERT_TRUE(g.is_kept_comm(0));
  EXPECT_EQ(g.kept_kind(0), "all_reduce");
  EXPECT_EQ(LaneName(g, 0, LanePolicy::kSingle), "communication");
  EXPECT_EQ(LanesOfGraph(g, LanePolicy::kSingle).queue[0], kCommLane);
  EXPECT_EQ(LanesOfGraph(g, LanePolicy::kRecorded).queue[0], kNoQueuedLane);
}

TEST(KeptComm, IsNotPricedByTables) {
  const TraceSet traces = *KeptStep(1).Build();
  const Graph& g = *traces.ranks[0].graph;
  proto::KernelTable table;
  for (const char* name : {"gemm", "ncclDevKernel_Generic"}) {
    proto::KernelRow* row = table.add_row();
    row->set_name(name);
    row->set_duration_us(1);
  }
  const auto index = KernelTableIndex::Make(table, "t");
  ASSERT_TRUE(index.ok()) << index.status();
  ComputeModel model;
  model.time_sources = {TimeSource::kTable};
  model.table = &*index;
  const auto times = PriceGraph(g, model, nullptr);
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_EQ(times->time[0], Time::Micros(1));
  EXPECT_EQ(times->time[1], Time::Micros(30));
  EXPECT_EQ(times->time_source[1], TimeSource::kRecorded);
}

TEST(KeptComm, IsNotCollectedIntoTables) {
  CollectNotes notes;
  const auto table = CollectKernels(*KeptStep(1).Build(), {}, &notes);
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->row_size(), 1);
  EXPECT_EQ(table->row(0).name(), "gemm");
  EXPECT_EQ(notes.comm, 1u);
}

TEST(KeptComm, OnlyComputeNodesAreKept) {
  TraceBuilder b(1);
  TraceBuilder::Text(&b.Coll(0, T::kAllReduce, 100), "comm_kind", "all_reduce");
  EXPECT_FALSE(b.Build()->ranks[0].graph->is_kept_comm(0));
  TraceBuilder bad(1);
  TraceBuilder::Text(&bad.Comp(0, 1), "comm_kind", "");
  EXPECT_THAT(std::string(bad.Build().status().message()), HasSubstr("attribute comm_kind"));
}

// ---- calls of unknown size -------------------------------------------------------

// Two ranks make a call of 20 us that has no comm_size; rank 1 arrives 10 us later.
TraceBuilder Sizeless(uint64_t micros) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    b.Comp(r, r == 0 ? 5 : 15);
    et::Node& call = b.Add(r, et::COMM_COLL_NODE, {0});
    TraceBuilder::Int(&call, "comm_type", static_cast<int64_t>(T::kAllReduce));
    call.set_duration_micros(micros);
    b.Coll(r, T::kAllReduce, 1 << 20, {1});
  }
  return b;
}

TEST(KeptComm, UnsizedCallTakesItsRecordedTime) {
  const auto m = Replayed(Sizeless(20), {});
  ASSERT_TRUE(m.ok()) << m.status();
  const CollectiveMetrics& row = m->collectives.at({"all_reduce of unknown size", ""});
  EXPECT_EQ(row.count, 1u);
  EXPECT_EQ(row.time, Time::Micros(20));
  EXPECT_EQ(row.wait, Time::Micros(10));
  EXPECT_EQ(m->ranks[0].waited, Time::Micros(10));
  EXPECT_EQ(m->kept.nodes, 2u);
  const CollectiveMetrics& priced = m->collectives.at({"all_reduce", ""});
  EXPECT_EQ(priced.count, 1u) << "others are simulated";
  EXPECT_EQ(m->makespan, Time::Micros(35) + priced.time);
}

TEST(KeptComm, ErrorWithoutRecordedTimeNamesTheRemedy) {
  EXPECT_THAT(ErrorOf(Sizeless(0)), HasSubstr("node 1"));
  EXPECT_THAT(ErrorOf(Sizeless(0)), HasSubstr("comm_size: missing"));
  EXPECT_THAT(ErrorOf(Sizeless(0)), HasSubstr("The edit `bytes` sets"));
}

TEST(KeptComm, UnsizedMessageTakesItsRecordedTime) {
  TraceBuilder b(2);
  et::Node& send = b.Add(0, et::COMM_SEND_NODE);
  TraceBuilder::Int(&send, "comm_dst", 1);
  send.set_duration_micros(7);
  b.Comp(1, 2);
  et::Node& recv = b.Add(1, et::COMM_RECV_NODE, {0});
  TraceBuilder::Int(&recv, "comm_src", 0);
  TraceBuilder::Int(&recv, "comm_size", 64);
  recv.set_duration_micros(7);
  const auto m = Replayed(b, {});
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->makespan, Time::Micros(9));
  EXPECT_EQ(m->collectives.at({"send_recv of unknown size", ""}).count, 1u);
}

TEST(KeptComm, ReportCountsKeptCommunication) {
  const TraceSet traces = *KeptStep(2).Build();
  const auto m = Replayed(KeptStep(2), {});
  ASSERT_TRUE(m.ok()) << m.status();
  const std::vector<ComputeTimes> times = Recorded(traces);
  RunDescription run;
  run.traces = &traces;
  run.times = &times;
  run.comm = "simulated";
  const proto::Report report = MakeReport(*m, run);
  EXPECT_EQ(report.kept_comm(), 2u);
  EXPECT_EQ(report.kept_comm_ps(), 60 * kUs);
  EXPECT_THAT(
      report.warning(),
      ::testing::Contains(HasSubstr("2 communication nodes, 60 us, are of unknown kind, size or group")));
  ASSERT_EQ(report.time_source_size(), 5);
  EXPECT_EQ(report.time_source(3).time_source(), "recorded");
  EXPECT_EQ(report.time_source(3).nodes(), 4u) << "computation alone";
  run.comm = "recorded";
  EXPECT_THAT(MakeReport(*m, run).warning(), Not(::testing::Contains(HasSubstr("unknown kind"))));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
