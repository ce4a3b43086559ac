// Files that resemble a known format: several ranks in one file, other files among ranks, formats of other
// tools, broken JSON. Each is read correctly, or refused with the true cause.
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/folders.h"
#include "test/replay/acceptance_testing.h"
#include "test/replay/run_binary.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OddFiles : public Bench {
 protected:
  void SetUp() override {
    if (!fs::is_directory(Folder())) GTEST_SKIP() << "NOT CHECKED: the inputs are not at " << Folder();
  }
  static std::string Folder() { return absl::StrCat(CHAKRA_SHARED_DATA, "/strangers"); }
  static std::string Input(const std::string& name) { return absl::StrCat(Folder(), "/", name); }
  static CommandResult Replay(const std::string& name, const std::string& more = "") {
    return RunCommand(absl::StrCat("replay ", Input(name), " -q ", more));
  }
  static std::string Doctor(const std::string& name) { return RunCommand("doctor " + Input(name)).out; }
};

TEST_F(OddFiles, ReadsSeveralRanksFromOneFile) {
  const CommandResult run = Replay("merged_ranks_named/merged.trace.json");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("2 ranks"), HasSubstr("has 2 ranks"), Not(HasSubstr("(not known)"))));
  EXPECT_THAT(Doctor("merged_ranks_named/merged.trace.json"),
              AllOf(HasSubstr("2 ranks"), Not(HasSubstr("of 2 ranks"))));
}

TEST_F(OddFiles, SkipsFrontEndAmongRanks) {
  for (const char* folder : {"folder_with_front_end", "front_end_taken_as_rank"}) {
    const CommandResult run = Replay(folder);
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("traces   2 ranks"), HasSubstr("async_llm"), HasSubstr("left out")));
    EXPECT_THAT(Doctor(folder), AllOf(HasSubstr("1 run,"), HasSubstr("2 ranks"), HasSubstr("left out"),
                                      Not(HasSubstr("of 2 ranks:"))));
  }
}

TEST_F(OddFiles, CountsRanksFromPlacesInNames) {
  const CommandResult run = Replay("names_tp_dp_pp_ep");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("4 ranks"), HasSubstr("counted from DP, TP")));
  EXPECT_THAT(Doctor("names_tp_dp_pp_ep"), AllOf(HasSubstr("1 run,"), HasSubstr("4 ranks")));
  // The same ranks by hand; then a pattern that gives two traces one rank.
  const std::string by_hand =
      "--rank-of 'TP-0-DP-0=0' --rank-of 'TP-1-DP-0=1' --rank-of 'TP-0-DP-1=2' --rank-of 'TP-1-DP-1=3'";
  EXPECT_EQ(Replay("names_tp_dp_pp_ep", by_hand).status, 0);
  const CommandResult twice = Replay("names_tp_dp_pp_ep", "--rank-of 'TP-(\\d+)'");
  EXPECT_EQ(twice.status, 1);
  EXPECT_THAT(twice.err, HasSubstr("two device traces for rank 0"));
}

TEST_F(OddFiles, RefusesPlansOfOtherTools) {
  const CommandResult run = Replay("plan_of_another_tool/allgather.json");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("not a Chakra node"));
  EXPECT_THAT(Doctor("plan_of_another_tool/allgather.json"),
              AllOf(HasSubstr("MSCCL++"), Not(HasSubstr("report"))));
}

TEST_F(OddFiles, TextLogIsNotAReport) {
  EXPECT_THAT(
      Doctor("text_is_a_report/nccl.log"),
      AllOf(HasSubstr("debug log of NCCL"), HasSubstr("record-help nccl"), Not(HasSubstr("a report of"))));
}

TEST_F(OddFiles, LinkedTracesKeepTheirTimes) {
  const CommandResult run = Replay("linked_by_chakra_trace_link");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("Makespan   2.9 ms"), HasSubstr("chakra_trace_link")));
}

TEST_F(OddFiles, HloModuleRunsOnGivenRanks) {
  const std::string asked = "--cluster dgx-h100 --ranks 8";
  const CommandResult run = Replay("hlo_without_device_count/module.txt", asked);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("8 ranks"), HasSubstr("all_reduce"), HasSubstr("4 MiB")));
  const CommandResult alone = Replay("hlo_without_device_count/module.txt", "--cluster dgx-h100");
  EXPECT_THAT(alone.out, AllOf(HasSubstr("no node takes time"), HasSubstr("--ranks N gives the number")));
}

TEST_F(OddFiles, RepairsBrokenJson) {
  const CommandResult host = Replay("host_trace_trailing_comma", "--cluster dgx-h100");
  EXPECT_EQ(host.status, 0) << host.err;
  EXPECT_THAT(host.out, HasSubstr("json_superfluous_comma"));
  EXPECT_EQ(Replay("host_trace_trailing_comma", "--cluster dgx-h100 --strict").status, 1);
  const CommandResult quotes = Replay("quotes_in_a_name/trace.json");
  EXPECT_EQ(quotes.status, 0) << quotes.err;
  EXPECT_THAT(quotes.out, HasSubstr("json_unescaped_quote"));
  const CommandResult words = Replay("profiler_plugin_bare_words/dump_111_0.json");
  EXPECT_EQ(words.status, 0) << words.err;
  EXPECT_THAT(words.out, HasSubstr("json_bare_word"));
}

TEST_F(OddFiles, DoctorReportsWhyReplayStops) {
  EXPECT_THAT(
      Doctor("doctor_all_well_deadlock"),
      AllOf(HasSubstr("a replay stops: "), HasSubstr("cannot finish"), Not(HasSubstr("nothing is missing"))));
}

TEST_F(OddFiles, NamesTracesOfOtherProfilers) {
  const CommandResult run = Replay("trace_of_another_profiler/trace.json");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("a Chrome trace of another program"), HasSubstr("record-help torch"),
                             Not(HasSubstr("recorded no step"))));
}

TEST_F(OddFiles, FitsOnePlaceIfHalvesDiffer) {
  const CommandResult run = RunCommand(absl::StrCat("calibrate ", Input("nccl_tests_halves_differ/log.txt"),
                                                    " --cluster dgx-h100 -o ", At("c.txtpb")));
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("20 times as long in place"), HasSubstr("only out of place is fitted")));
  EXPECT_THAT(run.out, HasSubstr("5 rows fitted"));
}

TEST_F(OddFiles, LastLineOfRankListIsEnough) {
  const CommandResult run = RunCommand(absl::StrCat("calibrate ", Input("nccl_tests_last_rank_line/log.txt"),
                                                    " --cluster dgx-h100 -o ", At("c.txtpb")));
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("5 rows fitted"), HasSubstr("5 rows in place, not fitted")));
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
