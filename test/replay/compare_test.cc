// Comparisons of reports: differences, limits, inputs and output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "replay/compare/input.h"
#include "replay/compare/limit.h"
#include "replay/compare/print.h"
#include "replay/compare/reports.h"
#include "replay/compare/table.h"
#include "replay/compare/trace_tables.h"
#include "replay/compare/traces.h"
#include "test/replay/trace_builder.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

const proto::Section* Find(const proto::Comparison& c, const std::string& name) {
  for (const proto::Section& s : c.section()) {
    if (s.name() == name) return &s;
  }
  return nullptr;
}

std::vector<std::string> Names(const proto::Section& section) {
  std::vector<std::string> names;
  for (const proto::Change& c : section.change()) names.push_back(c.name());
  return names;
}

const proto::MeasureChange& By(const proto::Section& section, int row) {
  for (const proto::MeasureChange& m : section.change(row).measure()) {
    if (m.name() == section.by()) return m;
  }
  return section.total();
}

// compare(B, A) with the sides swapped: it must equal compare(A, B).
proto::Comparison Turned(proto::Comparison c) {
  const auto turn = [](proto::MeasureChange* m) {
    *m =
        m->has_real_a() ? ChangeOf(m->name(), m->real_b(), m->real_a()) : ChangeOf(m->name(), m->b(), m->a());
  };
  const auto swap = [](auto* x) {
    std::string a = x->a();
    x->set_a(x->b());
    x->set_b(a);
  };
  for (auto& s : *c.mutable_setting()) swap(&s);
  for (proto::Section& s : *c.mutable_section()) {
    turn(s.mutable_total());
    const uint64_t rows = s.rows_a(), only = s.only_a();
    const bool cut = s.cut_a();
    s.set_rows_a(s.rows_b());
    s.set_rows_b(rows);
    s.set_only_a(s.only_b());
    s.set_only_b(only);
    s.set_cut_a(s.cut_b());
    s.set_cut_b(cut);
    for (proto::Change& x : *s.mutable_change()) {
      for (auto& m : *x.mutable_measure()) turn(&m);
      for (auto& t : *x.mutable_text()) swap(&t);
      if (!x.only_in().empty()) x.set_only_in(x.only_in() == "a" ? "b" : "a");
    }
  }
  return c;
}

TEST(Table, RowsMatchByNameThenByOrder) {
  const ComparedTable a{
      "t", {"time_ps", "count"}, {}, {{"x", {5, 1}}, {"x", {7, 1}}, {"y", {1, 1}}, {"x #2", {9, 9}}}};
  ComparedTable b = a;
  EXPECT_EQ(DiffTables(a, b).changed(), 0u);
  b.rows[1].numbers[0] = 4;
  b.rows[2].name = "z";
  const proto::Section s = DiffTables(a, b);
  EXPECT_THAT(Names(s), ElementsAre("x #2", "y", "z"));
  EXPECT_EQ(s.change(0).measure(0).difference(), -3);
  EXPECT_EQ(s.change(1).only_in(), "a");
  EXPECT_EQ(s.change(2).only_in(), "b");
  EXPECT_EQ(s.only_a() + s.only_b(), 2u);
  EXPECT_EQ(s.total().difference(), -3);
  EXPECT_DOUBLE_EQ(s.change(0).share_percent(), 60);
}

TEST(Table, SortsByTheFirstMeasureThatDiffers) {
  const ComparedTable a{
      "t", {"time_ps", "bytes"}, {}, {{"rank 2", {5, 1}}, {"rank 10", {5, 1}}, {"q", {5, 1}}}};
  ComparedTable b = a;
  b.rows[0].numbers[1] = 2;
  b.rows[1].numbers[1] = 2;
  b.rows[2].numbers[1] = -9;
  const proto::Section s = DiffTables(a, b);
  EXPECT_EQ(s.by(), "bytes");
  EXPECT_THAT(Names(s), ElementsAre("q", "rank 2", "rank 10"));
}

TEST(Table, HandlesOverflowAndBasesOfZero) {
  const uint64_t large = ~uint64_t{0};
  EXPECT_EQ(ChangeOf("bytes", large, large - 1).difference(), -1);
  EXPECT_EQ(ChangeOf("bytes", large, large - 1).a(), kMost);
  EXPECT_EQ(ChangeOf("bytes", uint64_t{0}, large).difference(), kMost);
  EXPECT_FALSE(ChangeOf("bytes", 0, 1).has_percent());
  EXPECT_EQ(ChangeOf("bytes", 0, 0).percent(), 0);
  EXPECT_DOUBLE_EQ(ChangeOf("x", 0.5, 0.25).percent(), -50);
  const double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_FALSE(ChangeOf("x", tiny, 1e300).has_percent());
}

proto::Report SmallReport() {
  proto::Report r;
  const absl::Status s = ParseMessage(R"(
    version: "1" makespan_ps: 1000 cluster: "c" fabric: "analytical" lanes: "recorded" ranks: 2 nodes: 9
    rank { rank: 0 end_ps: 1000 compute_busy_ps: 600 comm_busy_ps: 500 exposed_comm_ps: 300 idle_ps: 80 nodes: 5 }
    rank { rank: 1 end_ps: 900 compute_busy_ps: 600 idle_ps: 300 nodes: 4 }
    collective { kind: "all_reduce" group: "dp" ranks: 2 count: 1 bytes: 64 time_ps: 400 algorithm: "ring"
                 algbw_gbytes_per_s: 160 busbw_gbytes_per_s: 160 }
    collective { kind: "send_recv" ranks: 2 count: 1 bytes: 8 time_ps: 100 }
    operator { name: "mm" count: 4 time_ps: 1200 } operator { name: "all_reduce" count: 2 time_ps: 800 }
    lane { name: "stream 7" count: 6 time_ps: 2000 }
    time_source { time_source: "roofline" nodes: 4 time_ps: 1200 } time_source { time_source: "none" }
    input { path: "x/w.0.et" sha256: "aa" role: "trace" } input { path: "x/w.1.et" sha256: "bb" role: "trace" }
  )",
                                      "small", &r);
  EXPECT_TRUE(s.ok()) << s;
  return r;
}

TEST(CompareReports, ReportEqualsItself) {
  const proto::Report r = SmallReport();
  proto::Report moved = r;
  moved.mutable_input(0)->set_path("elsewhere/w.0.et");
  for (const proto::Report& other : {r, moved}) {
    const proto::Comparison c = CompareReports(r, other);
    EXPECT_TRUE(c.identical()) << c.DebugString();
    EXPECT_EQ(c.note_size(), 0);
    for (const proto::Section& s : c.section()) EXPECT_EQ(s.change_size(), 0) << s.name();
  }
}

TEST(CompareReports, ListsChangesInBothDirections) {
  const proto::Report a = SmallReport();
  proto::Report b = a;
  b.set_makespan_ps(1500);
  b.set_cluster("d");
  b.mutable_rank(0)->set_end_ps(1500);
  b.mutable_rank(0)->set_exposed_comm_ps(800);
  b.mutable_collective(0)->set_time_ps(900);
  b.mutable_collective(0)->set_algorithm("tree");
  b.mutable_collective(0)->set_algbw_gbytes_per_s(71);
  b.mutable_collective(1)->set_kind("broadcast");
  b.mutable_operator_(1)->set_time_ps(1300);
  b.mutable_input(1)->set_sha256("cc");
  const proto::Comparison c = CompareReports(a, b);
  EXPECT_FALSE(c.identical());
  ASSERT_EQ(c.setting_size(), 2);
  EXPECT_EQ(c.setting(0).name(), "cluster");
  EXPECT_EQ(c.setting(1).a(), "2 files, only here: w.1.et");
  EXPECT_EQ(By(*Find(c, "run"), 0).difference(), 500);
  EXPECT_DOUBLE_EQ(By(*Find(c, "run"), 0).percent(), 50);
  EXPECT_THAT(Names(*Find(c, "last_rank")), ElementsAre("exposed communication"));
  EXPECT_THAT(Names(*Find(c, "ranks")), ElementsAre("rank 0"));
  EXPECT_THAT(Names(*Find(c, "collectives")),
              ElementsAre("all_reduce on group \"dp\"", "send_recv", "broadcast on all ranks"));
  EXPECT_EQ(Find(c, "collectives")->change(0).text(0).b(), "tree");
  EXPECT_THAT(Names(*Find(c, "operators")), ElementsAre("all_reduce"));
  EXPECT_EQ(Find(c, "lanes")->changed(), 0u);
  EXPECT_EQ(Find(c, "time_sources")->changed(), 0u);
  const proto::Comparison back = Turned(CompareReports(b, a));
  EXPECT_EQ(back.DebugString(), c.DebugString());
}

// The shares of the rank that ends last add up to its end.
TEST(CompareReports, SharesOfTheLastRankAddUp) {
  const proto::Report a = SmallReport();
  proto::Report b = a;
  b.mutable_rank(1)->set_end_ps(2000);
  const proto::Comparison c = CompareReports(a, b);
  int64_t sum = 0;
  for (const proto::Change& x : Find(c, "last_rank")->change()) sum += x.measure(0).difference();
  EXPECT_EQ(sum, 1000);
}

TEST(CompareReports, OperatorsCutFromOneSideNeverFail) {
  proto::Report a = SmallReport();
  a.mutable_operator_(1)->set_name("(others)");
  a.mutable_operator_(1)->set_merged(true);
  proto::Report b = SmallReport();
  b.mutable_operator_(1)->set_time_ps(5000);
  proto::Comparison c = CompareReports(a, b, true);
  EXPECT_TRUE(Find(c, "operators")->cut_a());
  EXPECT_FALSE(Find(c, "operators")->cut_b());
  ASSERT_TRUE(CheckLimit(*ParseSlowdownLimit("1ps"), {"operators"}, false, true, &c).ok());
  EXPECT_EQ(c.failure_size(), 0) << "it may have been among A's others";
  auto text = PrintComparison(c, ReportFormat::kText, 10);
  EXPECT_THAT(*text, HasSubstr("all_reduce [listed in B]"));
}

TEST(CompareReports, MergesNamesIfOneSideMergedThem) {
  proto::Report a = SmallReport(), b = a;
  a.mutable_operator_(0)->set_name("l1.mm");
  a.mutable_operator_(1)->set_name("l2.mm");
  b.mutable_operator_()->DeleteSubrange(1, 1);
  b.mutable_operator_(0)->set_name("l#.mm");
  b.mutable_operator_(0)->set_merged(true);
  b.mutable_operator_(0)->set_count(6);
  b.mutable_operator_(0)->set_time_ps(2000);
  EXPECT_EQ(Find(CompareReports(a, b), "operators")->changed(), 0u);
  EXPECT_EQ(Find(CompareReports(b, a), "operators")->changed(), 0u);
}

TEST(CompareReports, NamesDetailsThatAreNotCompared) {
  const proto::Report a = SmallReport();
  proto::Report b = a;
  b.set_bound("bound by something else");
  const proto::Comparison c = CompareReports(a, b);
  EXPECT_TRUE(c.identical());
  ASSERT_EQ(c.note_size(), 1);
  EXPECT_THAT(c.note(0), HasSubstr("bound"));
}

TEST(Limit, ReadsPercentagesAndTimes) {
  EXPECT_DOUBLE_EQ(ParseSlowdownLimit("2.5 %")->percent, 2.5);
  EXPECT_EQ(ParseSlowdownLimit("5ms")->ps, 5000000000);
  EXPECT_EQ(ParseSlowdownLimit("1e-3s")->ps, 1000000000);
  EXPECT_EQ(ParseSlowdownLimit("0%")->percent, 0);
  for (const char* bad : {"", "2", "%", "-1%", "nan%", "inf%", "2 percent", "1e300s", "5min", "2%%", "-0s"}) {
    EXPECT_THAT(std::string(ParseSlowdownLimit(bad).status().message()), HasSubstr("expected a number"))
        << bad;
  }
}

int Failures(const char* limit, bool both_ways, int64_t a, int64_t b) {
  proto::Report x = SmallReport(), y = x;
  x.set_makespan_ps(a);
  y.set_makespan_ps(b);
  proto::Comparison c = CompareReports(x, y);
  EXPECT_TRUE(CheckLimit(*ParseSlowdownLimit(limit), {"makespan"}, both_ways, true, &c).ok());
  return c.failure_size();
}

TEST(Limit, IsExceededOnlyByLargerChanges) {
  EXPECT_EQ(Failures("2%", false, 1000, 1020), 0);
  EXPECT_EQ(Failures("2%", false, 1000, 1021), 1);
  EXPECT_EQ(Failures("20ps", false, 1000, 1020), 0);
  EXPECT_EQ(Failures("20ps", false, 1000, 1021), 1);
  EXPECT_EQ(Failures("0%", false, 1000, 1000), 0);
  EXPECT_EQ(Failures("0%", false, 1000, 1001), 1);
  EXPECT_EQ(Failures("2%", false, 1000, 10), 0);
  EXPECT_EQ(Failures("2%", true, 1000, 10), 1);
  EXPECT_EQ(Failures("100%", false, 0, 1), 1) << "more than any percentage of nothing";
  EXPECT_EQ(Failures("1%", false, kMost - 1, kMost), 0);
  EXPECT_EQ(Failures("1%", true, kMost, 0), 1);
}

TEST(Limit, ChecksTheGivenSubjects) {
  proto::Report b = SmallReport();
  b.mutable_rank(1)->set_end_ps(950);
  b.add_collective()->set_kind("barrier");
  b.mutable_collective(2)->set_time_ps(7);
  proto::Comparison c = CompareReports(SmallReport(), b);
  ASSERT_TRUE(
      CheckLimit(*ParseSlowdownLimit("2%"), {"makespan", "ranks", "collectives"}, false, true, &c).ok());
  ASSERT_EQ(c.failure_size(), 2);
  EXPECT_EQ(c.failure(0).subject(), "rank 1");
  EXPECT_EQ(c.failure(1).subject(), "barrier on all ranks");
  EXPECT_FALSE(c.failure(1).has_percent());
  EXPECT_THAT(std::string(CheckLimit(*ParseSlowdownLimit("2%"), {"rank"}, false, true, &c).message()),
              HasSubstr("'ranks'"));
  EXPECT_FALSE(CheckLimit(*ParseSlowdownLimit("2%"), {"makespan"}, false, false, &c).ok());
}

TEST(Input, DistinguishesReportsFromTraces) {
  const proto::Report r = SmallReport();
  for (MessageFormat format : {MessageFormat::kJson, MessageFormat::kText, MessageFormat::kBinary}) {
    auto looks = LooksLikeReport(*FormatMessage(r, format), "r");
    ASSERT_TRUE(looks.ok());
    EXPECT_TRUE(*looks) << static_cast<int>(format);
  }
  EXPECT_TRUE(*LooksLikeReport("# by hand\n makspan_ps: 5", "r")) << "a slip of the pen is no trace";
  const std::string frame(
      "\x07\x0a\x05"
      "0.0.4"
      "\x02\x08\x01",
      11);
  for (const std::string& trace :
       {frame, std::string("{\"traceEvents\": [{\"makespan_ps\": 1}]}"),
        std::string("{\"schema\": \"1.0\", \"nodes\": []}"), std::string("node {\n id: 1 }"), std::string(),
        std::string("\x0a\x03"
                    "abc",
                    5)}) {
    auto looks = LooksLikeReport(trace, "t");
    ASSERT_TRUE(looks.ok());
    EXPECT_FALSE(*looks) << trace;
  }
  EXPECT_THAT(std::string(LooksLikeReport("rank,end_ps,compute", "r.csv").status().message()),
              AllOf(HasSubstr("r.csv"), HasSubstr("--format json")));
  EXPECT_FALSE(LooksLikeReport("chakra-replay 0.1.0\n", "r.txt").ok());
}

TEST(Input, RefusesReportsWithImpossibleNumbers) {
  EXPECT_TRUE(CheckReport(SmallReport(), "r").ok());
  EXPECT_FALSE(CheckReport(proto::Report(), "r").ok());
  proto::Report r = SmallReport();
  r.mutable_rank(1)->set_end_ps(-5);
  EXPECT_EQ(CheckReport(r, "r").message(), "r: rank[1].end_ps: -5; expected picoseconds, at least 0");
  r = SmallReport();
  r.mutable_collective(0)->set_algbw_gbytes_per_s(std::numeric_limits<double>::infinity());
  EXPECT_THAT(std::string(CheckReport(r, "r").message()), HasSubstr("collective[0].algbw_gbytes_per_s"));
}

TEST(Print, FitsTheTerminalAndEscapesCsv) {
  const proto::Report a = SmallReport();
  proto::Report b = a;
  for (int i = 0; i < 30; ++i) {
    proto::OperatorReport* x = b.add_operator_();
    x->set_name(std::string(200, 'x') + std::to_string(i) + ",\"\n");
    x->set_time_ps(kMost / 40 + i);
    x->set_count(~uint64_t{0});
  }
  proto::RankReport* rank = b.mutable_rank(0);
  for (auto set : {&proto::RankReport::set_end_ps, &proto::RankReport::set_compute_busy_ps,
                   &proto::RankReport::set_comm_busy_ps, &proto::RankReport::set_exposed_comm_ps,
                   &proto::RankReport::set_host_busy_ps, &proto::RankReport::set_memory_busy_ps}) {
    (rank->*set)(123456789012345);
  }
  const proto::Comparison c = CompareReports(a, b);
  const std::string text = *PrintComparison(c, ReportFormat::kText, 10);
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    EXPECT_LE(end - begin, 110u) << text.substr(begin, end - begin);
  }
  EXPECT_THAT(text, HasSubstr("... and 20 more"));
  const std::string csv = *PrintComparison(c, ReportFormat::kCsv, 0);
  EXPECT_THAT(csv, HasSubstr("\nranks,rank 0,,end_ps,1000,123456789012345,123456789011345,1.23457e+13\n"));
  EXPECT_THAT(csv, HasSubstr("29,\"\"\\n\",b,time_ps,0,"));
  proto::Comparison read;
  ASSERT_TRUE(ParseMessage(*PrintComparison(c, ReportFormat::kJson, 0), "json", &read).ok());
  EXPECT_EQ(read.DebugString(), c.DebugString());
  ASSERT_TRUE(ParseMessage(*PrintComparison(c, ReportFormat::kJson, 3), "json", &read).ok());
  EXPECT_EQ(Find(read, "operators")->change_size(), 3);
  EXPECT_EQ(Find(read, "operators")->changed(), 30u);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
