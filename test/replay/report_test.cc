#include "replay/report/report.h"

#include <gtest/gtest.h>

#include "google/protobuf/util/json_util.h"

namespace chakra {
namespace {

// Two ranks of one graph with two compute nodes; rank 1 ends last.
struct Fixture {
  Fixture() {
    auto graph = std::make_shared<Graph>();
    graph->id = {1, 2};
    graph->name = {graph->strings.Intern("matmul"), graph->strings.Intern("odd\xff")};
    graph->type = {NodeType::kComp, NodeType::kComp};
    graph->flags = {0, 0};
    graph->duration = {Time::Zero(), Time::Zero()};
    for (int r = 0; r < 2; ++r) {
      RankTrace rank;
      rank.rank = r;
      rank.graph = graph;
      traces.ranks.push_back(rank);
    }
    traces.groups = {{"pair", {0, 1}}};
    times.push_back({{Time::Picos(30), Time::Zero()}, {ComputeRung::kRoofline, ComputeRung::kNone}});
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

TEST(BusFactor, IsThatOfNcclTests) {
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

TEST(Report, RungsCountEveryRankAndNameTheUnanswered) {
  Fixture f;
  const proto::Report r = MakeReport(f.metrics, f.run);
  ASSERT_EQ(r.rung_size(), kComputeRungs);
  EXPECT_EQ(r.rung(1).rung(), "roofline");
  EXPECT_EQ(r.rung(1).nodes(), 2u);
  EXPECT_EQ(r.rung(1).time_ps(), 60);
  EXPECT_EQ(r.rung(3).nodes(), 2u);
  ASSERT_EQ(r.unanswered_size(), 1);
  EXPECT_EQ(r.unanswered(0).name(), "odd\xef\xbf\xbd");
}

TEST(Report, WarnsOfADimensionWithoutBytes) {
  Fixture f;
  f.run.traffic = {{"used", "ring", 2, 5}, {"alone", "ring", 1, 0}, {"unused", "ring", 2, 0}};
  const proto::Report r = MakeReport(f.metrics, f.run);
  ASSERT_EQ(r.warning_size(), 1);
  EXPECT_EQ(r.warning(0), "dimension unused (ring of 2) carried no bytes");
}

TEST(Report, BoundSharesTheLastRanksTime) {
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

TEST(Report, UnknownFormatIsAnError) { EXPECT_FALSE(ParseReportFormat("xml").ok()); }

}  // namespace
}  // namespace chakra
