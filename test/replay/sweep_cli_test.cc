// `sweep` on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "run_binary.h"
#include "test/folders.h"

namespace chakra::CHAKRA_FILE {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string Content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class SweepCli : public testing::Test {
 protected:
  SweepCli() {
    std::string pattern = (fs::temp_directory_path() / "sweep_cli.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    // The example, with absolute paths.
    Write("small.txtpb",
          absl::StrReplaceAll(Content(absl::StrCat(CHAKRA_SOURCE_DIR, "/examples/sweeps/small.txtpb")),
                              {{"examples/transformer_step", kStep}}));
  }
  ~SweepCli() override { fs::remove_all(folder_); }

  std::string At(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(At(name)) << content;
  }
  std::string Run(const std::string& arguments, int expected = 0) const {
    int status = 0;
    std::string out = RunBinary(arguments, &status);
    EXPECT_EQ(status, expected) << arguments << "\n" << out;
    return out;
  }
  void Refuse(const std::string& axis, const std::string& message) const {
    Write("bad.txtpb", absl::StrCat("trace: '", kStep, "'\n", axis));
    const std::string out = Run(absl::StrCat("sweep ", At("bad.txtpb"), " -o ", At("bad")), 1);
    EXPECT_THAT(out, HasSubstr(message));
    EXPECT_FALSE(fs::exists(At("bad"))) << out;  // before anything was run
  }

  const std::string kStep = absl::StrCat(CHAKRA_SOURCE_DIR, "/examples/transformer_step");
  std::string folder_;
};

TEST_F(SweepCli, ExampleGivesTablesAndAnswers) {
  const std::string out =
      Run(absl::StrCat("sweep ", At("small.txtpb"), " -o ", At("d"), " --format csv,jsonl,sqlite"));
  EXPECT_THAT(out, HasSubstr("12 points, 12 run in "));
  EXPECT_THAT(out, HasSubstr("and 7 more"));
  const std::string csv = Content(At("d/results.csv"));
  EXPECT_THAT(csv, HasSubstr("point,id,nodes,nic,memory,step_ms,price,makespan_ps,algbw_gbytes_per_s,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 13);
  EXPECT_EQ(Content(At("d/results.sqlite")).substr(0, 15), "SQLite format 3");
  EXPECT_THAT(Run(absl::StrCat("sweep best ", At("d"), " --by price --top 1 --format csv")),
              HasSubstr("\n0,one,400,2000,250,"));
  EXPECT_THAT(Run(absl::StrCat("sweep pareto ", At("d"), " --of makespan_ps,price")),
              HasSubstr("points are dominated"));
  EXPECT_THAT(Run(absl::StrCat("sweep table ", At("d"), " --rows memory --columns nodes")),
              HasSubstr("memory \\ nodes"));
  EXPECT_THAT(Run(absl::StrCat("sweep ", At("small.txtpb"), " -o ", At("d"))), HasSubstr("12 points, 0 run"));
}

TEST_F(SweepCli, ResolvesPathsFromFolderOfSpec) {
  fs::create_directories(At("specs/nets"));
  fs::copy(kStep, At("specs/step"), fs::copy_options::recursive);
  Write("specs/nets/star.txt",
        "9 1 8\n8\n0 8 400Gbps 1us 0\n1 8 400Gbps 1us 0\n2 8 400Gbps 1us 0\n3 8 400Gbps 1us 0\n"
        "4 8 400Gbps 1us 0\n5 8 400Gbps 1us 0\n6 8 400Gbps 1us 0\n7 8 400Gbps 1us 0\n");
  Write("specs/spec.txtpb",
        "trace: 'step' replay: '--cluster dgx-h100:gpus_per_node=2' axis { name: 'net' option: '--network' "
        "value: "
        "'nets/star.txt' value: 'switch' } axis { name: 'of' choice { label: 'x' words: '--groups "
        "step/workload.json' } }");
  const std::string out = Run(absl::StrCat("sweep ", At("specs/spec.txtpb"), " --dry-run"));
  EXPECT_THAT(out, HasSubstr(absl::StrCat("replay ", At("specs/step"), " ")));
  EXPECT_THAT(out, HasSubstr(absl::StrCat("--network ", At("specs/nets/star.txt"))));
  EXPECT_THAT(out, HasSubstr("--network switch"));
  EXPECT_THAT(out, HasSubstr(absl::StrCat("--groups ", At("specs/step/workload.json"))));
  EXPECT_THAT(Run(absl::StrCat("sweep ", At("specs/spec.txtpb"), " -o ", At("beside"))),
              HasSubstr("2 points, 2 run"));
}

TEST_F(SweepCli, WritesAPageOfResults) {
  const std::string d = At("d");
  EXPECT_THAT(Run(absl::StrCat("sweep ", At("small.txtpb"), " -o ", d, " --format csv,html")),
              HasSubstr(absl::StrCat(d, "/results.html")));
  const std::string page = Content(At("d/results.html"));
  EXPECT_THAT(page, testing::StartsWith("<!DOCTYPE html>"));
  // The inputs with their checksums, and the text of the spec.
  EXPECT_THAT(page, HasSubstr("\"role\":\"trace\",\"bytes\":"));
  EXPECT_THAT(page, testing::ContainsRegex("\"sha256\":\"[0-9a-f]{64}\""));
  EXPECT_THAT(page, HasSubstr("# Which network card, which all-reduce"));
  // All commands write the same bytes.
  Run(absl::StrCat("sweep page ", d, " -o ", At("page.html")));
  EXPECT_EQ(Content(At("page.html")), page);
  EXPECT_EQ(Run(absl::StrCat("sweep page ", d, " -o -")), page);
  Run(absl::StrCat("sweep export ", d, " -o ", At("e"), " --format html"));
  EXPECT_EQ(Content(At("e/results.html")), page);
  Run(absl::StrCat("sweep merge ", d, " -o ", At("m")));
  EXPECT_THAT(Run(absl::StrCat("sweep page ", At("m"))),
              HasSubstr(absl::StrCat("written: ", At("m/results.html"))));
  EXPECT_EQ(Content(At("m/results.html")), page);
  const std::string some = Run(absl::StrCat("sweep page ", d, " -o - --by max:price --where 'nic == 400'"));
  EXPECT_THAT(some, HasSubstr("is the largest price of 6 points: small"));

  EXPECT_THAT(Run("sweep page", 2), HasSubstr("see `chakra-replay sweep page --help`"));
  EXPECT_THAT(Run(absl::StrCat("sweep page ", At("nothing")), 1), HasSubstr("nothing"));
  EXPECT_THAT(Run(absl::StrCat("sweep page ", d, " --by makspan_ps"), 1),
              HasSubstr("did you mean 'makespan_ps'?"));
  EXPECT_THAT(Run(absl::StrCat("sweep page ", d, " --where 'nic >'"), 1), HasSubstr("--where: column"));
  EXPECT_THAT(Run(absl::StrCat("sweep page ", d, " -o ", At("nowhere/a.html")), 1), HasSubstr("no folder"));
}

// The command of a point, run by itself, gives the same result.
TEST_F(SweepCli, PointEqualsItsCommand) {
  Run(absl::StrCat("sweep ", At("small.txtpb"), " -q -o ", At("d"), " --format jsonl"));
  const std::vector<std::string> lines = absl::StrSplit(Content(At("d/results.jsonl")), '\n');
  const std::vector<std::string> commands =
      absl::StrSplit(Run(absl::StrCat("sweep ", At("small.txtpb"), " --dry-run -q")), '\n');
  ASSERT_EQ(lines.size(), 13u);
  ASSERT_EQ(commands.size(), 13u);
  for (const size_t n : {0, 5, 11}) {
    EXPECT_THAT(lines[n], HasSubstr(absl::StrCat("{\"point\":", n, ",")));
    ASSERT_EQ(commands[n].rfind("chakra-replay replay ", 0), 0u);
    const std::string csv = Run(absl::StrCat(commands[n].substr(14), " -q --format csv"));
    // The end of the last rank.
    int64_t last = 0;
    std::istringstream rows(csv.substr(csv.find('\n')));
    for (std::string row; std::getline(rows, row);) {
      const std::vector<std::string> cells = absl::StrSplit(row, ',');
      if (cells.size() > 1) last = std::max<int64_t>(last, std::stoll(cells[1]));
    }
    EXPECT_THAT(lines[n], HasSubstr(absl::StrCat("\"makespan_ps\":", last, ",")));
  }
}

TEST_F(SweepCli, ResumesAfterKillsToEqualResults) {
  const std::string spec = absl::StrCat("sweep ", At("many.txtpb"), " -q -o ");
  Write("many.txtpb", absl::StrCat("trace: '", kStep,
                                   "' axis { name: 'memory' field: 'device.memory_gbytes_per_s' range { "
                                   "from: 1000 to: 4000 steps: 60 } }"));
  Run(spec + At("whole"));
  for (int ms = 20; ms <= 100; ms += 20) {
    const std::string command = absl::StrCat("timeout -s KILL 0.", ms < 100 ? "0" : "", ms, " ",
                                             CHAKRA_BINARY, " ", spec, At("d"), " 2>/dev/null");
    (void)!std::system(command.c_str());
  }
  Run(spec + At("d"));
  EXPECT_EQ(Content(At("d/results.csv")), Content(At("whole/results.csv")));
}

TEST_F(SweepCli, JobsDoNotChangeTheTables) {
  Run(absl::StrCat("sweep ", At("small.txtpb"), " -q --jobs 1 -o ", At("one")));
  Run(absl::StrCat("sweep ", At("small.txtpb"), " -q --jobs 3 --trace-cache 1 -o ", At("three")));
  EXPECT_EQ(Content(At("one/results.csv")), Content(At("three/results.csv")));
}

TEST_F(SweepCli, MergesShards) {
  for (const char* shard : {"1", "2"}) {
    EXPECT_THAT(Run(absl::StrCat("sweep ", At("small.txtpb"), " --shard ", shard, "/2 -o ", At(shard))),
                HasSubstr("6 points, 6 run"));
  }
  EXPECT_THAT(Run(absl::StrCat("sweep merge ", At("1"), " ", At("2"), " -o ", At("both"))),
              HasSubstr("12 of 12 points have results, 0 failed"));
  Run(absl::StrCat("sweep ", At("small.txtpb"), " -q -o ", At("whole")));
  EXPECT_EQ(Content(At("both/results.csv")), Content(At("whole/results.csv")));
  EXPECT_THAT(Run(absl::StrCat("sweep ", At("small.txtpb"), " -o ", At("both"))),
              HasSubstr("12 points, 0 run"));
}

// The ranks that NVLink joins decide the groups of a step with experts. The order of the clusters in the
// sweep changes nothing.
TEST_F(SweepCli, ExpertGroupsFollowTheCluster) {
  const auto swept = [&](const char* name, const char* first, const char* second) {
    Write(absl::StrCat(name, ".txtpb"),
          absl::StrCat(
              "replay: '--model "
              "layers=2,hidden=256,heads=4,ffn=512,vocab=1024,experts=16,top_k=2,expert_ffn=128 "
              "--parallel ep=16,dp=16,dispatcher=deep --training seq=512' axis { name: 'machine' option: "
              "'--cluster' value: '",
              first, "' value: '", second, "' }"));
    Run(absl::StrCat("sweep ", At(absl::StrCat(name, ".txtpb")), " -q --jobs 1 -o ", At(name)));
    std::vector<std::string> rows = absl::StrSplit(
        Run(absl::StrCat("sweep best ", At(name), " --top 2 --format csv")), '\n', absl::SkipEmpty());
    for (std::string& row : rows) row = row.substr(row.find(',') + 1);  // without the point's number
    std::sort(rows.begin(), rows.end());
    return rows;
  };
  EXPECT_EQ(swept("a", "gb200-nvl72", "dgx-h100"), swept("b", "dgx-h100", "gb200-nvl72"));
}

TEST_F(SweepCli, TracesAndSeedsAreAxes) {
  Write("s.txtpb", absl::StrCat("repeats: 2 replay: '--set variation.start_skew_ns=1e6' axis { name: 'trace' "
                                "option: 'TRACE' value: '",
                                kStep, "' value: '", kStep,
                                "/workload' } axis { name: 'edit' choice { label: 'none' } choice { label: "
                                "'fast' words: '--scale .*=0.5' } }"));
  EXPECT_THAT(Run(absl::StrCat("sweep ", At("s.txtpb"), " --jobs 2 --trace-cache 1 -o ", At("d"))),
              HasSubstr("8 points, 8 run"));
  EXPECT_THAT(Run(absl::StrCat("sweep best ", At("d"))), HasSubstr("means over the seeds of each point"));
  const std::string table =
      Run(absl::StrCat("sweep table ", At("d"), " --rows trace --columns edit --format csv"));
  const std::vector<std::string> rows = absl::StrSplit(table, '\n');
  ASSERT_EQ(rows.size(), 4u) << table;
  EXPECT_EQ(rows[1].substr(rows[1].find(',')), rows[2].substr(rows[2].find(',')));  // the same traces
}

TEST_F(SweepCli, SearchFindsBestOfItsGrid) {
  Write(
      "s.txtpb",
      absl::StrCat(
          "trace: '", kStep,
          "' search { evaluations: 40 } axis { name: 'memory' field: 'device.memory_gbytes_per_s' range { "
          "from: 1000 to: 4000 step: 500 } }"
          " axis { name: 'peak' field: 'device.peak_tflops[bf16]' range { from: 100 to: 1000 step: 100 } }"));
  EXPECT_THAT(Run(absl::StrCat("sweep ", At("s.txtpb"), " -o ", At("d"))),
              HasSubstr("hill climbing from 4 starts"));
  EXPECT_THAT(Run(absl::StrCat("sweep best --top 1 --format csv ", At("d"))), HasSubstr(",4000,1000,"));
}

TEST_F(SweepCli, RefusesBadAxesBeforeTheRun) {
  Refuse("axis {\n name: 'm'\n field: 'device.memory_gbyte_per_s'\n value: '1' }",
         "bad.txtpb:4: axis[0].field: device.memory_gbyte_per_s=1: unknown field "
         "device.memory_gbyte_per_s; did you mean 'memory_gbytes_per_s'?");
  Refuse("axis { name: 'm' field: 'device.memory_gbytes_per_s' value: '3TB' }",
         "memory_gbytes_per_s is \"3TB\"; expected a rate in b/s or B/s");
  Refuse("axis { name: 'd' field: 'topology.dimension[5].size' value: '1' }", "dimension has 2 elements");
  Refuse("axis { name: 'f'\n option: '--fabric' value: 'fluid' value: 'flud' }",
         "bad.txtpb:2: axis[0]: the value \"flud\" of axis f, of 2 points: there is no fabric \"flud\"; did "
         "you mean 'fluid'?");
  Refuse("axis { name: 'f' option: '--fabrik' value: 'fluid' }",
         "there is no option --fabrik; did you mean \"--fabric\"?");
  Refuse("axis { name: 'f' option: '--network' value: 'leaf_spin:k=4' }", "did you mean 'leaf_spine'?");
  Refuse("axis { name: 'f' option: '--report' value: 'x' }", "there is no option --report");
  Refuse(
      "axis { name: 'a' range { from: 1 to: 1000 step: 1 } } axis { name: 'b' range { from: 1 to: 1000 step: "
      "1 } }",
      "the sweep has 1,000,000 points");
  Refuse("axis { name: 'a' value: '1' } constraint: 'a > 1'", "the sweep has no point");
  Refuse("axes { }", "bad.txtpb:2:6; did you mean 'axis'?");
  Refuse("replay: '--cluster dgx-h10'", "the first point, of 1 points: ");
  Write("bad.txtpb", "trace: 'absent'");
  EXPECT_THAT(Run(absl::StrCat("sweep ", At("bad.txtpb"), " -o ", At("bad")), 1), HasSubstr("absent"));
}

TEST_F(SweepCli, RecordsPointsThatCannotRun) {
  Write("s.txtpb", absl::StrCat("trace: '", kStep,
                                "' axis { name: 'rate' field: 'topology.dimension[0].bandwidth_gbytes_per_s' "
                                "value: '-1' value: '2' }"));
  const std::string sweep = absl::StrCat("sweep ", At("s.txtpb"), " -o ", At("d"));
  const std::string says =
      absl::StrCat("chakra-replay: 1 of 2 points failed; its error is in ", At("d"), "/results.csv\n");
  EXPECT_THAT(Run(sweep, 1), testing::AllOf(HasSubstr("2 points, 2 run in"), HasSubstr(says)));
  EXPECT_THAT(Content(At("d/results.csv")), HasSubstr("bandwidth_gbytes_per_s is -1"));
  EXPECT_EQ(Run(sweep + " -q", 1), says);
  EXPECT_THAT(Run(absl::StrCat("sweep best ", At("d"))),
              HasSubstr("1 point failed and is left out: point 0: "));
}

TEST_F(SweepCli, RefusesBadArguments) {
  EXPECT_THAT(Run("sweep", 2), HasSubstr("sweep expects a SPEC"));
  EXPECT_THAT(Run(absl::StrCat("sweep ", At("small.txtpb")), 2), HasSubstr("sweep expects -o DIR"));
  EXPECT_THAT(Run(absl::StrCat("sweep ", At("small.txtpb"), " -o ", At("d"), " --shard 3/2"), 2),
              HasSubstr("expected I/N"));
  EXPECT_THAT(Run(absl::StrCat("sweep ", At("small.txtpb"), " -o ", At("d"), " --job 3"), 2),
              HasSubstr("did you mean \"--jobs\"?"));
  EXPECT_THAT(Run("sweep best", 2), HasSubstr("expected the folder"));
  EXPECT_THAT(Run(absl::StrCat("sweep best ", At("nowhere")), 1), HasSubstr("cannot read the folder"));
  EXPECT_THAT(Run(absl::StrCat("sweep pareto --of makespan_ps ", At("d")), 2),
              HasSubstr("two metrics or more"));
}

TEST_F(SweepCli, ReplayAcceptsSet) {
  const std::string slow = Run(absl::StrCat(
      "replay ", kStep, " -q --set device.memory_gbytes_per_s=100 --set 'device.peak_tflops[bf16]=10'"));
  EXPECT_THAT(slow, Not(HasSubstr("Makespan   38.15 ms")));
  EXPECT_THAT(Run(absl::StrCat("replay ", kStep, " -q --set device.memory=1"), 1),
              HasSubstr("--set device.memory=1: unknown field device.memory"));
}

// The tasks of an array get the options of the command. There are at most as many tasks as points.
TEST_F(SweepCli, SlurmArrayEqualsTheCommand) {
  const std::string sweep = absl::StrCat("sweep ", At("small.txtpb"), " -o ", At("d"), " --slurm ");
  EXPECT_THAT(Run(sweep + "1000000 --jobs 2"), HasSubstr("12 points to run: an array of 12 tasks\n"));
  EXPECT_THAT(Content(At("d/sweep.sbatch")), HasSubstr("#SBATCH --array=1-12\n"));
  const std::string plain = Run(sweep +
                                "4 --retry-failed --continue-changed --trace-cache 7 "
                                "--format csv,jsonl --timing --limit 10");
  EXPECT_THAT(plain, Not(HasSubstr("an array of")));
  const std::string task = Content(At("d/sweep.sbatch")), tables = Content(At("d/export.sbatch"));
  for (const char* words : {" --retry-failed", " --continue-changed", " --trace-cache 7"})
    EXPECT_THAT(task, HasSubstr(words));
  EXPECT_THAT(tables, HasSubstr(" --format csv,jsonl --timing\n"));
  EXPECT_THAT(task, Not(HasSubstr("--timing")));
  // The limit holds for all tasks together.
  int all = 0;
  for (int i = 1; i <= 4; ++i) {
    const size_t at = task.find("--limit $((");
    ASSERT_NE(at, std::string::npos) << task;
    const std::string sum = task.substr(at + 8, task.find("))", at) + 2 - at - 8);
    const std::string printed =
        Run(absl::StrCat("--version >/dev/null; SLURM_ARRAY_TASK_ID=", i, "; echo ", sum));
    all += std::stoi(printed);
    EXPECT_GT(std::stoi(printed), 0);
  }
  EXPECT_EQ(all, 10);
  EXPECT_THAT(Run(sweep + "4 --limit 3"), HasSubstr("3 points to run: an array of 3 tasks\n"));
  EXPECT_THAT(Run(sweep + "4 --shard 1/2", 2), HasSubstr("--slurm divides the sweep itself"));
  Run(absl::StrCat("sweep ", At("small.txtpb"), " -o ", At("50%"), " --slurm 2"));
  EXPECT_THAT(Content(At("50%/submit.sh")), HasSubstr("/50%%/slurm-%A_%a.out"));
}

// A point that a signal stops has no result. The same command continues the sweep.
TEST_F(SweepCli, SignalStopsARunningPoint) {
  Write("slow.txtpb",
        "replay: '--model llama3-8b:layers=2 --parallel dp=16 --training seq=8192,global_batch=16 --cluster "
        "dgx-h100 "
        "--network leaf_spine:hosts_per_leaf=8,spines=1,link=100Gb/s,uplink=10Gb/s'\n"
        "axis { name: 'fabric' option: '--fabric' value: 'packet' }\n");
  const std::string out = Run(absl::StrCat("--version >/dev/null; timeout -s INT 3 ", CHAKRA_BINARY,
                                           " sweep ", At("slow.txtpb"), " -o ", At("d"), "; echo status $?"));
  EXPECT_THAT(out, HasSubstr("the sweep was stopped; the same command continues from here"));
  EXPECT_THAT(Content(At("d/points.journal")), Not(HasSubstr("\"point\"")));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
