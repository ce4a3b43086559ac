#include "replay/report/report.h"

#include <gtest/gtest.h>

#include "google/protobuf/util/json_util.h"
#include "replay/collectives/accounting.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/measure/metrics.h"
#include "replay/run/description.h"
#include "test/trace/graph_of.h"

namespace chakra::CHAKRA_FILE {
namespace {

// Two ranks of one graph with two compute nodes; rank 1 ends last.
struct Fixture {
  Fixture() {
    GraphDraft draft;
    draft.id = {1, 2};
    draft.name = {draft.strings.Intern("matmul"), draft.strings.Intern("odd\xff")};
    draft.type = {NodeType::kComp, NodeType::kComp};
    draft.flags = {0, 0};
    draft.duration = {Time::Zero(), Time::Zero()};
    const auto graph = GraphOf(std::move(draft));
    for (int r = 0; r < 2; ++r) {
      RankTrace rank;
      rank.rank = r;
      rank.graph = graph;
      traces.ranks.push_back(rank);
    }
    traces.groups = {{"pair", {0, 1}}};
    times.push_back(
        {std::vector<Time>{Time::Picos(30), Time::Zero()}, {TimeSource::kRoofline, TimeSource::kNone}});
    metrics.makespan = Time::Picos(100);
    metrics.ranks.resize(2);
    metrics.ranks[0].end = Time::Picos(90);
    metrics.ranks[1] = {
        Time::Picos(100), Time::Picos(30), {}, Time::Picos(65), Time::Picos(60), {}, Time::Picos(10), 2};
    CollectiveMetrics c;
    c.ranks = 4;
    c.count = 1;
    c.bytes = 1000;
    c.time = Time::Picos(1000);
    metrics.collectives[{"all_reduce", "pair"}] = c;
    run.version = "9";
    run.traces = &traces;
    run.times = &times;
  }
  TraceSet traces;
  std::vector<ComputeTimes> times;
  Metrics metrics;
  RunDescription run;
};

TEST(BusFactor, MatchesNcclTests) {
  EXPECT_DOUBLE_EQ(BusFactor("all_reduce", 4), 1.5);
  for (const char* kind :
       {"all_gather", "reduce_scatter", "reduce_scatter_block", "all_to_all", "gather", "scatter"}) {
    EXPECT_DOUBLE_EQ(BusFactor(kind, 4), 0.75) << kind;
  }
  for (const char* kind : {"broadcast", "reduce", "barrier", "send_recv"})
    EXPECT_DOUBLE_EQ(BusFactor(kind, 4), 1);
  EXPECT_DOUBLE_EQ(BusFactor("all_reduce", 1), 0);
  EXPECT_DOUBLE_EQ(BusFactor("all_reduce", 0), 1);
}

TEST(Report, RatesAreBytesOverTime) {
  Fixture f;
  const proto::Report r = MakeReport(f.metrics, f.run);
  ASSERT_EQ(r.collective_size(), 1);
  EXPECT_DOUBLE_EQ(r.collective(0).algbw_gbytes_per_s(), 1000);  // 1000 B in 1 ns
  EXPECT_DOUBLE_EQ(r.collective(0).busbw_gbytes_per_s(), 1500);
}

TEST(Report, CollectivesWithoutTimeHaveNoRate) {
  Fixture f;
  f.metrics.collectives.begin()->second.time = Time::Zero();
  EXPECT_EQ(MakeReport(f.metrics, f.run).collective(0).algbw_gbytes_per_s(), 0);
}

TEST(Report, CountsTimeSourcesAndNamesUnanswered) {
  Fixture f;
  const proto::Report r = MakeReport(f.metrics, f.run);
  ASSERT_EQ(r.time_source_size(), kTimeSources - 2);  // neither model nor repriced answered
  EXPECT_EQ(r.time_source(2).time_source(), "roofline");
  EXPECT_EQ(r.time_source(2).nodes(), 2u);
  EXPECT_EQ(r.time_source(2).time_ps(), 60);
  EXPECT_EQ(r.time_source(4).nodes(), 2u);
  ASSERT_EQ(r.unanswered_size(), 1);
  EXPECT_EQ(r.unanswered(0).name(), "odd\xef\xbf\xbd");
}

TEST(Report, WarnsOfUnusedDimension) {
  Fixture f;
  f.run.traffic = {{"used", "ring", 2, 5}, {"alone", "ring", 1, 0}, {"unused", "ring", 2, 0}};
  const proto::Report r = MakeReport(f.metrics, f.run);
  ASSERT_EQ(r.warning_size(), 1);
  EXPECT_EQ(r.warning(0), "dimension unused (ring of 2) carried no bytes");
}

TEST(Report, BoundDescribesTheLastRank) {
  Fixture f;
  EXPECT_EQ(DescribeBound(f.metrics, f.traces),
            "bound by exposed communication: 60.0 % (most: all_reduce on group \"pair\") of rank 1, which "
            "ends last "
            "at 100 ps; computation 30.0 %; idle waiting 10.0 %");
  EXPECT_EQ(DescribeBound(Metrics(), f.traces), "nothing bounds the run: it takes no time");
}

TEST(Report, JsonHasSnakeCaseNamesZerosAndStringIntegers) {
  Fixture f;
  const proto::Report report = MakeReport(f.metrics, f.run);
  const auto json = PrintReport(report, ReportFormat::kJson);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_NE(json->find("\"makespan_ps\": \"100\""), std::string::npos) << *json;
  EXPECT_NE(json->find("\"fast_collectives\": \"0\""), std::string::npos) << *json;
  proto::Report back;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(*json, &back).ok());
  EXPECT_EQ(back.SerializeAsString(), report.SerializeAsString());
}

TEST(Report, CsvHasARowForEachRank) {
  Fixture f;
  EXPECT_EQ(
      *PrintReport(MakeReport(f.metrics, f.run), ReportFormat::kCsv),
      "rank,end_ps,compute_busy_ps,comm_busy_ps,exposed_comm_ps,idle_ps\n0,90,0,0,0,0\n1,100,30,65,60,10\n");
}

TEST(Report, TextEndsWithTheBoundAndCutsLongTables) {
  Fixture f;
  f.metrics.ranks.resize(40);
  const proto::Report r = MakeReport(f.metrics, f.run);
  const std::string text = *PrintReport(r, ReportFormat::kText);
  EXPECT_NE(text.find("... and 24 more ranks"), std::string::npos) << text;
  ASSERT_GT(text.size(), r.bound().size());
  EXPECT_EQ(text.substr(text.size() - r.bound().size() - 2), "\n" + r.bound() + "\n");
}

TEST(Report, ComparesSimulatedAndRecordedTransfers) {
  Fixture f;
  CollectiveMetrics& c = f.metrics.collectives.begin()->second;
  c.recorded = Time::Picos(800);
  c.recorded_count = 1;
  CollectiveMetrics partly = c;
  partly.count = 2;
  f.metrics.collectives[{"broadcast", ""}] = partly;
  const proto::Report r = MakeReport(f.metrics, f.run);
  EXPECT_EQ(r.collective(0).recorded_ps(), 800);
  EXPECT_EQ(r.collective(0).recorded_count(), 1u);
  EXPECT_DOUBLE_EQ(r.collective(0).simulated_to_recorded(), 1.25);
  EXPECT_EQ(r.collective(1).simulated_to_recorded(), 0);  // one of two calls was measured
  const std::string text = *PrintReport(r, ReportFormat::kText);
  EXPECT_NE(text.find("recorded  ratio"), std::string::npos) << text;
  EXPECT_NE(text.find("800 ps  1.250"), std::string::npos) << text;
  EXPECT_NE(text.find("800 ps      -"), std::string::npos) << text;
}

TEST(Report, NamesSourceOfCommunicationTimes) {
  Fixture f;
  f.run.comm = "recorded";
  f.run.lanes = "recorded";
  f.run.compute = "recorded";
  proto::Report r = MakeReport(f.metrics, f.run);
  EXPECT_EQ(r.comm(), "recorded");
  const std::string recorded = *PrintReport(r, ReportFormat::kText);
  EXPECT_NE(recorded.find("replay   comm recorded, lanes recorded, compute recorded\n"), std::string::npos)
      << recorded;
  EXPECT_EQ(recorded.find("cluster  "), std::string::npos) << recorded;
  EXPECT_EQ(recorded.find("flows  "), std::string::npos) << recorded;
  f.run.comm = "simulated";
  f.run.fabric = "fluid";
  f.run.cluster = "mine";
  const std::string simulated = *PrintReport(MakeReport(f.metrics, f.run), ReportFormat::kText);
  EXPECT_NE(simulated.find("cluster  mine\n"), std::string::npos) << simulated;
  EXPECT_NE(simulated.find("replay   comm simulated, fabric fluid, lanes"), std::string::npos) << simulated;
  EXPECT_NE(simulated.find("flows  "), std::string::npos) << simulated;
}

StepMetrics MeasuredStep(int rank, const std::string& name, int64_t measured, int64_t replayed,
                         int64_t error) {
  return {rank, rank + 10, name, Time::Picos(measured), Time::Picos(replayed), Time::Picos(error), 5};
}

TEST(Report, ReportsStepsOfCapture) {
  Fixture f;
  f.run.steps = {MeasuredStep(0, "window", 1000, 1010, 20), MeasuredStep(0, "ProfilerStep#1", 800, 780, 4),
                 MeasuredStep(1, "empty", 0, 0, 0)};
  f.run.steps[2].kernels = 0;
  const proto::Report r = MakeReport(f.metrics, f.run);
  ASSERT_EQ(r.step_size(), 3);
  EXPECT_EQ(r.step(1).rank(), 0);
  EXPECT_EQ(r.step(1).recorded_rank(), 10);
  EXPECT_EQ(r.step(1).step(), "ProfilerStep#1");
  EXPECT_EQ(r.step(1).measured_ps(), 800);
  EXPECT_EQ(r.step(1).replayed_ps(), 780);
  EXPECT_EQ(r.step(1).kernel_start_error_ps(), 4);
  EXPECT_EQ(r.step(1).kernels(), 5u);
  const std::string text = *PrintReport(r, ReportFormat::kText);
  EXPECT_NE(text.find("+1.00 %        5        20 ps   2.00 %\n"), std::string::npos) << text;
  EXPECT_NE(text.find("-2.50 %        5         4 ps   0.50 %\n"), std::string::npos) << text;
  EXPECT_NE(text.find("0 s           -        0            -        -\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("furthest off"), std::string::npos) << text;
  EXPECT_NE(PrintReport(r, ReportFormat::kJson)->find("\"kernel_start_error_ps\": \"20\""),
            std::string::npos);
}

TEST(Report, ShowsWorstOfManySteps) {
  Fixture f;
  for (int i = 0; i < 30; ++i) f.run.steps.push_back(MeasuredStep(i, "fine", 1000, 1001, 1));
  f.run.steps[20] = MeasuredStep(20, "slow", 1000, 1500, 1);
  f.run.steps[25] = MeasuredStep(25, "late", 1000, 1000, 400);
  const std::string text = *PrintReport(MakeReport(f.metrics, f.run), ReportFormat::kText);
  EXPECT_NE(text.find("furthest off first"), std::string::npos) << text;
  EXPECT_NE(text.find("... and 14 more steps"), std::string::npos) << text;
  const size_t slow = text.find(" slow "), late = text.find(" late "), fine = text.find(" fine ");
  ASSERT_NE(slow, std::string::npos);
  EXPECT_LT(slow, late);
  EXPECT_LT(late, fine);
}

TEST(Report, UnknownFormatIsAnError) { EXPECT_FALSE(ParseReportFormat("xml").ok()); }

}  // namespace
}  // namespace chakra::CHAKRA_FILE
