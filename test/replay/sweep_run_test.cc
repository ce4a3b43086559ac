// Journals and runs: kills, torn lines, threads, shards, searches.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <set>
#include <thread>

#include "replay/sweep/journal.h"
#include "sweep_testing.h"
#include "trace/base/stop.h"

namespace chakra::sweep::CHAKRA_FILE {
namespace {

using testing::HasSubstr;

class SweepRun : public SweepTesting {};

TEST_F(SweepRun, ResultsDoNotDependOnThreads) {
  const Spec spec = MakeSpec(kGrid);
  SweepOptions four;
  four.runner.jobs = 4;
  ASSERT_TRUE(Run(spec, "one").ok());
  auto summary = Run(spec, "four", four);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->run, 20u);
  EXPECT_EQ(summary->points, 20u);
  const std::string csv = Csv({"one"});
  EXPECT_EQ(csv, Csv({"four"}));
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "point,id,a,b,makespan_ps,devices,error");
  EXPECT_THAT(csv, HasSubstr(",3,4,3004,8,\n"));
}

TEST_F(SweepRun, DoesNotRepeatFinishedPoints) {
  const Spec spec = MakeSpec(kGrid);
  SweepOptions seven;
  seven.limit = 7;
  auto first = Run(spec, "d", seven);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->run, 7u);
  EXPECT_EQ(first->left, 13u);
  auto second = Run(spec, "d");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->done_before, 7u);
  EXPECT_EQ(second->run, 13u);
  EXPECT_EQ(runs_, 20);
  ASSERT_TRUE(Run(spec, "whole").ok());
  EXPECT_EQ(Csv({"d"}), Csv({"whole"}));
}

// A kill or a power failure may leave any beginning of the file.
TEST_F(SweepRun, ResumesFromJournalCutAnywhere) {
  const Spec spec = MakeSpec("replay: 't a={a}' axis { name: 'a' value: '1' value: '2' value: 'bad' }");
  ASSERT_TRUE(Run(spec, "whole").ok());
  const std::string whole = FileContent(At("whole/points.journal")), csv = Csv({"whole"});
  const size_t start = whole.find('\n') + 1;
  std::filesystem::create_directory(At("d"));
  for (size_t cut = 0; cut <= whole.size(); cut += cut < start ? 101 : 13) {
    WriteContent(At("d/points.journal"), whole.substr(0, cut));
    auto summary = Run(spec, "d");
    ASSERT_TRUE(summary.ok()) << cut << summary.status();
    const bool torn = cut > 0 && whole[cut - 1] != '\n';
    EXPECT_EQ(summary->damaged, torn ? 1u : 0u) << cut;
    EXPECT_EQ(summary->done_before + summary->run, 3u) << cut;
    EXPECT_EQ(Csv({"d"}), csv) << cut;
    EXPECT_EQ(ReadJournal(At("d/points.journal"))->damaged, 0u) << cut;  // the torn end is gone
  }
}

TEST_F(SweepRun, RepeatsPointsOfDamagedLines) {
  const Spec spec = MakeSpec(kGrid);
  ASSERT_TRUE(Run(spec, "d").ok());
  const std::string csv = Csv({"d"});
  std::string journal = FileContent(At("d/points.journal"));
  const size_t third = journal.find("\"number\":\"3\"");
  ASSERT_NE(third, std::string::npos);
  journal[third + 2] ^= 1;
  for (size_t i = journal.find("\"number\":\"9\""), n = 0; n < 5; ++n) journal[i + n] = '\0';
  WriteContent(At("d/points.journal"), journal);
  auto summary = Run(spec, "d");
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->damaged, 2u);
  EXPECT_EQ(summary->run, 2u);
  EXPECT_EQ(Csv({"d"}), csv);
}

TEST_F(SweepRun, ResumesAfterKill) {
  const Spec spec = MakeSpec(kGrid);
  ASSERT_TRUE(Run(spec, "whole").ok());
  SweepOptions two;
  two.runner.jobs = 2;
  for (int kill_after = 1; kill_after <= 19; kill_after += 6) {
    const pid_t child = fork();
    if (child == 0) {
      auto space = Space::Make(spec.sweep);
      SweepOptions options = two;
      options.folder = At("d" + std::to_string(kill_after));
      options.version = "1";
      (void)RunSweep(
          spec, *space,
          [&](const std::vector<std::string>& words) {
            if (runs_ >= kill_after) kill(getpid(), SIGKILL);
            return Fake(words);
          },
          options);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    auto summary = Run(spec, "d" + std::to_string(kill_after), two);
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_EQ(summary->done_before + summary->run, 20u);
    EXPECT_EQ(Csv({"d" + std::to_string(kill_after)}), Csv({"whole"}));
  }
}

TEST_F(SweepRun, FailedPointsDoNotStopTheRest) {
  const Spec spec = MakeSpec("replay: 't a={a}' axis { name: 'a' value: '1' value: 'bad' value: '2' }");
  auto summary = Run(spec, "d");
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->failed, 1u);
  EXPECT_THAT(Csv({"d"}), HasSubstr(",bad,,,\"a is \"\"bad\"\"\\nand so on\"\n"));
  EXPECT_EQ(Run(spec, "d")->run, 0u);
  SweepOptions again;
  again.retry_failed = true;
  EXPECT_EQ(Run(spec, "d", again)->run, 1u);
  EXPECT_EQ(runs_, 4);
}

TEST_F(SweepRun, OneProcessWritesAJournal) {
  const Spec spec = MakeSpec(kGrid);
  auto space = Space::Make(spec.sweep);
  proto::SweepStart start;
  std::filesystem::create_directory(At("d"));
  auto held = JournalWriter::Open(At("d/points.journal"), start);
  ASSERT_TRUE(held.ok());
  auto second = JournalWriter::Open(At("d/points.journal"), start);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("being written by another process"));
}

TEST_F(SweepRun, RefusesAChangedSweep) {
  ASSERT_TRUE(Run(MakeSpec(kGrid), "d").ok());
  const Spec changed = MakeSpec(
      "replay: 't a={a} b={b}' axis { name: 'a' range { from: 1 to: 4 step: 1 } } axis { name: 'b' range { "
      "from: 2 to: 6 step: 1 } }");
  auto refused = Run(changed, "d");
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  const std::string message(refused.status().message());
  EXPECT_THAT(message, HasSubstr("of another sweep"));
  EXPECT_THAT(message, HasSubstr("axis[1].range.from: 1 -> 2"));
  EXPECT_THAT(message, HasSubstr("of its 20 points 16 are among the 20 of this one"));
  SweepOptions go_on;
  go_on.continue_changed = true;
  auto summary = Run(changed, "d", go_on);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->run, 4u);
  ASSERT_TRUE(Run(changed, "fresh").ok());
  EXPECT_EQ(Csv({"d"}), Csv({"fresh"}));
}

// Metrics and names may change, because points do not depend on them.
TEST_F(SweepRun, NewMetricsNeedNoRun) {
  ASSERT_TRUE(Run(MakeSpec(kGrid), "d").ok());
  const Spec more = MakeSpec(
      std::string(kGrid) +
      " metric { name: 'cost' expression: 'devices * a' } metric { name: 'both' expression: 'cost * 2' }");
  auto summary = Run(more, "d");
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->run, 0u);
  EXPECT_THAT(Csv({"d"}), HasSubstr("point,id,a,b,cost,both,makespan_ps,devices,error\n"));
  EXPECT_THAT(Csv({"d"}), HasSubstr(",4,5,32,64,4005,8,\n"));
}

TEST_F(SweepRun, ShardsTogetherEqualTheWhole) {
  const Spec spec = MakeSpec(kGrid);
  ASSERT_TRUE(Run(spec, "whole").ok());
  uint64_t points = 0;
  for (const char* text : {"1/3", "2/3", "3/3"}) {
    SweepOptions options;
    auto shard = ParseShard(text);
    ASSERT_TRUE(shard.ok());
    options.shard = *shard;
    auto summary = Run(spec, "together", options);
    ASSERT_TRUE(summary.ok()) << summary.status();
    points += summary->run;
    ASSERT_TRUE(Run(spec, std::string("apart") + text[0], options).ok());
  }
  EXPECT_EQ(points, 20u);
  EXPECT_EQ(Csv({"together"}), Csv({"whole"}));
  EXPECT_EQ(Csv({"apart1", "apart2", "apart3"}), Csv({"whole"}));
  // After all shards, the whole sweep has nothing to run.
  EXPECT_EQ(Run(spec, "together")->run, 0u);
  for (const char* bad : {"0/3", "4/3", "1", "a/b", "1/2/3", "-1/3", ""})
    EXPECT_FALSE(ParseShard(bad).ok()) << bad;
}

TEST_F(SweepRun, RefusesFoldersOfTwoSweeps) {
  ASSERT_TRUE(Run(MakeSpec(kGrid), "a").ok());
  ASSERT_TRUE(Run(MakeSpec("replay: 't'"), "b").ok());
  EXPECT_THAT(std::string(LoadResults({At("a"), At("b")}).status().message()),
              HasSubstr("is of another sweep than"));
  EXPECT_THAT(std::string(LoadResults({At("c")}).status().message()), HasSubstr("cannot read the folder"));
  std::filesystem::create_directory(At("empty"));
  EXPECT_THAT(std::string(LoadResults({At("empty")}).status().message()),
              HasSubstr("has no results of a sweep"));
}

TEST_F(SweepRun, FullDiskKeepsFinishedPoints) {
  const Spec spec = MakeSpec(kGrid);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {3000, 3000};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto summary = Run(spec, "d");
    const bool reported = !summary.ok() && std::string(summary.status().message()).find("cannot write ") == 0;
    _exit(reported ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  auto journal = ReadJournal(At("d/points.journal"));
  ASSERT_TRUE(journal.ok());
  EXPECT_EQ(journal->damaged, 0u);
  EXPECT_GT(journal->points.size(), 0u);
  auto summary = Run(spec, "d");
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->done_before, journal->points.size());
  ASSERT_TRUE(Run(spec, "whole").ok());
  EXPECT_EQ(Csv({"d"}), Csv({"whole"}));
}

TEST_F(SweepRun, StopFlagStartsNoMorePoints) {
  const Spec spec = MakeSpec(kGrid);
  auto space = Space::Make(spec.sweep);
  std::atomic<bool> stop = false;
  SweepOptions options;
  options.folder = At("d");
  options.version = "1";
  options.runner.stop = &stop;
  auto summary = RunSweep(
      spec, *space,
      [&](const std::vector<std::string>& words) {
        stop = runs_ == 4;
        return Fake(words);
      },
      options);
  EXPECT_EQ(summary.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(ReadJournal(At("d/points.journal"))->points.size(), 5u);
}

// A point that the flag ends has no result, and counts as not failed.
TEST_F(SweepRun, StopFlagEndsRunningPoints) {
  const Spec spec = MakeSpec(kGrid);
  auto space = Space::Make(spec.sweep);
  std::atomic<bool> stop = false;
  SweepOptions options;
  options.folder = At("d");
  options.version = "1";
  options.runner.stop = &stop;
  options.runner.jobs = 2;
  auto summary = RunSweep(
      spec, *space,
      [&](const std::vector<std::string>& words) -> Outcome {
        if (runs_ < 4) return Fake(words);
        stop = true;
        return {
            StopRequested() ? absl::CancelledError("the sweep was stopped") : absl::OkStatus(), {}, "", {}};
      },
      options);
  EXPECT_EQ(summary.status().code(), absl::StatusCode::kCancelled) << summary.status();
  const auto journal = ReadJournal(At("d/points.journal"));
  ASSERT_TRUE(journal.ok());
  EXPECT_GE(journal->points.size(), 4u);
  for (const auto& [id, point] : journal->points) EXPECT_EQ(point.error(), "");
  ASSERT_TRUE(Run(spec, "d").ok());
  ASSERT_TRUE(Run(spec, "whole").ok());
  EXPECT_EQ(Csv({"d"}), Csv({"whole"}));
}

TEST_F(SweepRun, GroupsSlowAxesAndKeepsNumbers) {
  Spec spec = MakeSpec(kGrid);
  auto space = Space::Make(spec.sweep);
  std::vector<std::string> order;
  SweepOptions options;
  options.folder = At("d");
  options.version = "1";
  options.slow_axes = {1};
  ASSERT_TRUE(RunSweep(
                  spec, *space,
                  [&](const std::vector<std::string>& words) {
                    order.push_back(words[2]);
                    return Fake(words);
                  },
                  options)
                  .ok());
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  ASSERT_TRUE(Run(spec, "plain").ok());
  EXPECT_EQ(Csv({"d"}), Csv({"plain"}));
}

TEST_F(SweepRun, WallTimesHaveTheirOwnColumn) {
  ASSERT_TRUE(Run(MakeSpec(kGrid), "d").ok());
  auto results = LoadResults({At("d")});
  ASSERT_TRUE(results.ok());
  EXPECT_THAT(ToCsv(*results, true), HasSubstr(",error,wall_s\n"));
  EXPECT_THAT(*ToJsonLines(*results, false), HasSubstr("\"axes\":{\"a\":1,\"b\":2},\"metrics\":{\"makespan_"
                                                       "ps\":1002,\"devices\":8},\"command\":\"chakra-replay "
                                                       "replay t a=1 b=2\"}\n"));
}

TEST(SweepJournal, ReadsAnyBytesAndCountsDamage) {
  proto::SweepRecord record;
  record.mutable_point()->set_id("x");
  record.mutable_point()->set_error("a\nb");
  const std::string line = JournalLine(record);
  EXPECT_EQ(ParseJournal(line).points.at("x").error(), "a\nb");
  EXPECT_EQ(ParseJournal(line + line).damaged, 0u);
  for (size_t i = 0; i + 1 < line.size(); ++i) {
    std::string bad = line;
    bad[i] ^= 2;
    const JournalContent content = ParseJournal(bad + line);
    EXPECT_GE(content.damaged, 1u) << i;
    EXPECT_EQ(content.points.size(), 1u) << i;
  }
  EXPECT_EQ(ParseJournal("").damaged, 0u);
  EXPECT_EQ(ParseJournal("\n\n").damaged, 2u);
}

}  // namespace
}  // namespace chakra::sweep::CHAKRA_FILE
