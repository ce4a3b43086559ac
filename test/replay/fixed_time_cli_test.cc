// The share of fixed time on the command line: the report in its formats, the warning, the refusal, inspect,
// compare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/inspect.pb.h"
#include "proto/report.pb.h"
#include "test/folders.h"
#include "test/replay/run_binary.h"
#include "test/replay/trace_builder.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Two ranks, each with a host call, a kernel that it launches, and a second call. On rank 0, the gap before
// the second call is `gap_us`, of which a quarter is unexplained; rank 1 has no gap.
TraceBuilder TwoRanks(int64_t gap_us, bool delays = true) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    TraceBuilder::Int(&b.Comp(r, 40), "is_cpu_op", 1);
    b.Comp(r, 30, {0});
    et::Node& call = b.Comp(r, 20, {0});
    et::Node& kernel = b.Nodes(r)[1];
    TraceBuilder::Int(&kernel, "stream", 7);
    TraceBuilder::Int(&call, "is_cpu_op", 1);
    if (!delays) continue;
    TraceBuilder::Delays(&kernel, {1000});
    TraceBuilder::Text(&kernel, "dep_kinds", "launch");
    TraceBuilder::Delays(&call, {r == 0 ? gap_us * 1000 : 0});
    TraceBuilder::Text(&call, "dep_kinds", "thread");
    if (r == 0) TraceBuilder::Delays(&call, {gap_us * 250}, "dep_unexplained_ns");
  }
  return b;
}

class FixedTimeCli : public testing::Test {
 protected:
  FixedTimeCli() {
    std::string pattern = (fs::temp_directory_path() / "share_cli_test.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~FixedTimeCli() override { fs::remove_all(folder_); }

  std::string Write(const TraceBuilder& b, const std::string& name) {
    fs::create_directories(folder_ / name);
    for (size_t r = 0; r < 2; ++r)
      EXPECT_TRUE(b.Write(r, (folder_ / name / absl::StrCat("w.", r, ".et")).string()).ok());
    return (folder_ / name).string();
  }
  CommandResult Run(const std::string& arguments) { return RunCommand(arguments, folder_.string()); }
  proto::Report Report(const std::string& arguments) {
    const CommandResult result = Run(absl::StrCat("replay ", arguments, kRecorded, " --format json"));
    proto::Report report;
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(ParseMessage(result.out, "report", &report).ok()) << result.out;
    return report;
  }

  static constexpr char kRecorded[] = " --compute recorded";
  fs::path folder_;
};

std::string WarningOf(const proto::Report& report) {
  for (const std::string& w : report.warning()) {
    if (w.find("fixed time") != w.npos) return w;
  }
  return "";
}

TEST_F(FixedTimeCli, ReportHasCausesOfRunAndRanks) {
  const proto::Report r = Report(Write(TwoRanks(40), "run"));
  ASSERT_EQ(r.makespan_ps(), 100000000);
  ASSERT_TRUE(r.has_fixed_time());
  EXPECT_DOUBLE_EQ(r.fixed_time().share(), 0.4);
  EXPECT_DOUBLE_EQ(r.fixed_time().path_share(), 0.4);
  const proto::FixedTime& run = r.fixed_time().run();
  EXPECT_EQ(run.of(), "run");
  EXPECT_EQ(run.time_ps(), 40000000);
  EXPECT_EQ(run.host_gaps_ps(), 30000000);
  EXPECT_EQ(run.unexplained_ps(), 10000000);
  ASSERT_EQ(r.fixed_time().rank_size(), 2);
  EXPECT_EQ(r.fixed_time().rank(0).time_ps(), 40000000);
  const proto::FixedTime& second = r.fixed_time().rank(1);
  EXPECT_EQ(second.of(), "rank 1");
  EXPECT_EQ(second.launch_latency_ps(), 1000000);
  EXPECT_DOUBLE_EQ(second.share(), 1.0 / 71);  // of the rank's own 71 us
  EXPECT_EQ(
      WarningOf(r),
      "40.0 % of the makespan is fixed time, 40.0 % along the critical path: host gaps 30.0 % (the trace "
      "does not show what these host threads did or waited for; annotations around their work would); "
      "unexplained 10.0 % (nothing that the "
      "capture shows shortens it)");
}

TEST_F(FixedTimeCli, TextAndCsvShowFixedTime) {
  const std::string run = Write(TwoRanks(40), "run");
  EXPECT_THAT(Run(absl::StrCat("replay ", run, kRecorded)).out,
              HasSubstr("\nFixed time: taken as recorded; edits of durations do not move it\n"
                        "  of             fixed   share  host gaps  launch latency  unexplained\n"
                        "  run            40 us  40.0 %      30 us             0 s        10 us\n"
                        "  critical path  40 us  40.0 %      30 us             0 s        10 us\n"
                        "  rank 0         40 us  40.0 %      30 us             0 s        10 us\n"
                        "  rank 1          1 us   1.4 %        0 s            1 us          0 s\n"));
  const std::string csv = Run(absl::StrCat("replay ", run, kRecorded, " --format csv")).out;
  const std::vector<std::string> lines = absl::StrSplit(csv, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0],
              HasSubstr(",idle_ps,fixed_ps,fixed_share,fixed_host_gaps_ps,fixed_launch_latency_ps,"
                        "fixed_stream_gaps_ps,fixed_start_ps,fixed_unexplained_ps,fixed_recorded_waits_ps,"
                        "fixed_other_delays_ps"));
  EXPECT_THAT(lines[1], HasSubstr(",40000000,0.400000,30000000,0,0,0,10000000,0,0"));
}

TEST_F(FixedTimeCli, WarnsOnlyAboveFivePercent) {
  const proto::Report few = Report(Write(TwoRanks(3), "few"));
  EXPECT_TRUE(few.has_fixed_time());
  EXPECT_EQ(WarningOf(few), "");
  const std::string none = Write(TwoRanks(0, false), "none");
  EXPECT_FALSE(Report(none).has_fixed_time());
  for (const char* format : {"text", "json", "csv"}) {
    const CommandResult r = Run(absl::StrCat("replay ", none, kRecorded, " --format ", format));
    EXPECT_THAT(r.out, Not(HasSubstr("ixed time"))) << format;
  }
  EXPECT_THAT(Run(absl::StrCat("inspect ", none)).out, Not(HasSubstr("ixed time")));
  EXPECT_THAT(Run(absl::StrCat("inspect ", none, " --format json")).out, Not(HasSubstr("ixed time")));
}

TEST_F(FixedTimeCli, StrictCausesRefusesSharesAboveItsLimit) {
  const std::string run = absl::StrCat("replay ", Write(TwoRanks(40), "run"), kRecorded);
  const CommandResult refused = Run(run + " --strict-causes");
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err,
              HasSubstr("--strict-causes: 40.0 % of the makespan is fixed time, expected at most 5 %: "
                        "host gaps 30.0 % (the trace does not show what these host threads did or waited "
                        "for; annotations around their work would); unexplained 10.0 % ("));
  EXPECT_EQ(Run(run + " --strict-causes=39.9").status, 1);
  EXPECT_EQ(Run(run + " --strict-causes=40").status, 0);
  EXPECT_EQ(Run(run + " --strict-causes=0").status, 1);
  for (const char* bad : {"101", "-1", "few"}) {
    const CommandResult r = Run(absl::StrCat(run, " --strict-causes=", bad));
    EXPECT_EQ(r.status, 2) << bad;
    EXPECT_THAT(r.err, HasSubstr("--strict-causes")) << bad;
  }
  const std::string few = absl::StrCat("replay --strict-causes ", Write(TwoRanks(3), "few"), kRecorded);
  EXPECT_EQ(Run(few).status, 0) << Run(few).err;
  EXPECT_EQ(
      Run(absl::StrCat("replay ", Write(TwoRanks(0, false), "none"), kRecorded, " --strict-causes=0")).status,
      0);
}

TEST_F(FixedTimeCli, InspectShowsFixedTimeOfTraces) {
  const std::string run = Write(TwoRanks(40), "run");
  EXPECT_THAT(
      Run("inspect " + run).out,
      HasSubstr("  fixed time       40 us if durations were 0, 40.0 % of the critical path; along it 40.0 %\n"
                "                   host gaps 30 us, unexplained 10 us\n"));
  proto::Inspection x;
  ASSERT_TRUE(ParseMessage(Run("inspect --format json " + run).out, "inspection", &x).ok());
  EXPECT_EQ(x.fixed_time().run().unexplained_ps(), 10000000);
  EXPECT_DOUBLE_EQ(x.fixed_time().share(), 0.4);
  ASSERT_EQ(x.fixed_time().rank_size(), 2);
  EXPECT_DOUBLE_EQ(x.fixed_time().rank(1).share(), 1.0 / 71);
}

TEST_F(FixedTimeCli, EditReportsWhatFixedTimeHolds) {
  const std::string run = Write(TwoRanks(40), "run");
  const auto held = [&](const std::string& arguments) {
    const proto::Report report = Report(arguments);
    for (const std::string& w : report.warning()) {
      if (w.find("the edits ") == 0) return w;
    }
    return std::string();
  };
  // Rank 0 ends with the calls and the gap of 40 us after 100 us, without fixed time with the kernel
  // after 70.
  EXPECT_EQ(
      held(run + " --scale '^n1$=0'"),
      "the edits take away 10 us, but fixed time holds 10 us of these: the run is as long as before, 100 us "
      "before and 100 us now. No edit of durations makes it shorter than 40 us (host gaps 30.0 %, "
      "unexplained 10.0 % of the makespan)");
  const proto::Report slower = Report(run + " --scale '^n1$=2'");
  EXPECT_EQ(slower.fixed_time().held().unedited_ps(), 100000000);
  EXPECT_EQ(slower.fixed_time().held().effect_ps(), -1000000);
  EXPECT_EQ(slower.fixed_time().held().effect_without_fixed_ps(), -30000000);
  EXPECT_EQ(slower.fixed_time().held().held_ps(), -29000000);
  EXPECT_EQ(
      held(run + " --scale '^n1$=2'").substr(0, 100),
      "the edits add 30 us, but fixed time hides 29 us of these: the run is 1 us longer, 100 us before and ");
  // Host calls of no time: the edit takes away 60 us with the gap and 40 without, which is all.
  EXPECT_EQ(held(run + " --scale '^n[02]$=0'"), "");
  EXPECT_EQ(Report(run + " --scale '^n[02]$=0'").fixed_time().held().held_ps(), 0);
  EXPECT_EQ(held(run), "");
  EXPECT_EQ(held(Write(TwoRanks(3), "few") + " --scale '^n0$=2'"), "");
}

// The second call of rank 0 begins 40 us after half of the first one.
TEST_F(FixedTimeCli, EditedRunKeepsEarlyReleases) {
  TraceBuilder b = TwoRanks(40);
  TraceBuilder::Delays(&b.Nodes(0)[2], {500000000000}, "dep_release");
  const std::string run = Write(b, "early");
  const proto::Report r = Report(run + " --scale '^n1$=0'");
  EXPECT_EQ(r.makespan_ps(), 80000000);  // 40 / 2 + 40 + 20
  EXPECT_THAT(WarningOf(r), StartsWith("50.0 % of the makespan is fixed time"));
  // Without the gap, the call waits for the end of the first one, because the host makes one call at a time.
  // Rank 0 then ends after 70 us, with the kernel; without the kernel's time, after 60 us, with the call.
  EXPECT_EQ(r.fixed_time().held().effect_without_fixed_ps(), 10000000);
}

// Two processes with common collectives: their fixed time is what remains if every duration and transfer is
// 0.
TEST_F(FixedTimeCli, CaptureEqualsItsReplayWithoutDurations) {
  const std::string capture = std::string(CHAKRA_SOURCE_DIR) + "/examples/capture/gloo_ddp_2";
  const proto::Report r = Report(capture);
  EXPECT_GT(r.fixed_time().run().time_ps(), 0);
  EXPECT_EQ(r.fixed_time().run().recorded_waits_ps(), 0);
  const proto::Report bare = Report(capture + " --scale .*=0");
  EXPECT_EQ(bare.makespan_ps(), r.fixed_time().run().time_ps());
  EXPECT_EQ(bare.fixed_time().run().time_ps(), r.fixed_time().run().time_ps());
  EXPECT_DOUBLE_EQ(bare.fixed_time().share(), 1);
  ASSERT_EQ(bare.rank_size(), r.fixed_time().rank_size());
  for (int i = 0; i < bare.rank_size(); ++i)
    EXPECT_EQ(bare.rank(i).end_ps(), r.fixed_time().rank(i).time_ps()) << i;
}

TEST_F(FixedTimeCli, CompareShowsTheDifference) {
  for (const int gap : {30, 40}) {
    const std::string traces = Write(TwoRanks(gap), absl::StrCat("gap", gap));
    ASSERT_EQ(Run(absl::StrCat("replay ", traces, kRecorded, " --report ", gap, ".json")).status, 0);
  }
  EXPECT_THAT(Run("compare 30.json 40.json --format csv").out,
              HasSubstr("fixed_time,run,,fixed_ps,30000000,40000000,10000000,"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
