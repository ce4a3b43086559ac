// Placement, variation and jobs on the command line.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "proto/report.pb.h"
#include "test/folders.h"
#include "test/replay/run_binary.h"
#include "test/replay/trace_builder.h"
#include "trace/io/proto_io.h"

namespace CHAKRA_FILE {
namespace {

const std::string kStep = std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step";

struct Result {
  int status;
  std::string out;  // with standard error
};

Result Ran(const std::string& arguments) {
  Result result{-1, ""};
  result.out = chakra::RunBinary("replay -q " + arguments, &result.status);
  return result;
}

chakra::proto::Report ReportOf(const std::string& arguments) {
  const Result result = Ran(arguments + " --format json");
  chakra::proto::Report report;
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_TRUE(chakra::ParseMessage(result.out, "report", &report).ok()) << result.out;
  return report;
}

void ExpectRefused(const std::string& arguments, int status, const std::string& text) {
  const Result result = Ran(kStep + " " + arguments);
  EXPECT_EQ(result.status, status) << arguments << "\n" << result.out;
  EXPECT_NE(result.out.find(text), std::string::npos) << arguments << "\n" << result.out;
}

std::string Written(const std::string& name, const std::string& content) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / name).string();
  std::ofstream(path) << content;
  return path;
}

TEST(RanksCli, SeedFixesResultForAnyThreads) {
  const std::string cluster =
      Written("ranks_cli_jitter.txtpb",
              "topology { dimension { kind: SWITCH bandwidth_gbytes_per_s: 50 } }\n"
              "device { memory_gbytes_per_s: 1000 }\n"
              "variation { jitter { kind: LOGNORMAL sigma: 0.2 } start_skew_ns: 5000 }\n");
  const std::string run = kStep + " --compute recorded --format json --cluster " + cluster;
  const Result one = Ran(run + " --threads 1");
  ASSERT_EQ(one.status, 0) << one.out;
  EXPECT_EQ(Ran(run + " --threads 3").out, one.out);
  EXPECT_EQ(Ran(run + " --no-fast-path").status, 0);
  EXPECT_NE(Ran(run + " --seed 2").out, one.out);
  EXPECT_NE(one.out.find("seed 1: lognormal jitter of sigma 0.2; ranks start within 5 us"),
            std::string::npos);
}

TEST(RanksCli, ReportsStragglersAndPlacement) {
  const chakra::proto::Report even = ReportOf(kStep + " --compute recorded");
  const chakra::proto::Report slow =
      ReportOf(kStep + " --compute recorded --straggler 0=2 --straggler 1=1.5");
  EXPECT_GT(slow.makespan_ps(), even.makespan_ps());
  EXPECT_EQ(slow.variation(), "seed 1: compute x 2 on ranks 0; compute x 1.5 on ranks 1");
  const chakra::proto::Report parts =
      ReportOf(kStep + " --compute recorded --straggler device:0=2 --straggler host:1=1.5");
  EXPECT_EQ(parts.variation(), "seed 1: device x 2 on ranks 0; host x 1.5 on ranks 1");
  EXPECT_EQ(even.variation(), "");
  EXPECT_EQ(ReportOf(kStep + " --placement linear").placement(), "");
  EXPECT_EQ(ReportOf(kStep + " --placement random:3").placement(), "random:3");
}

TEST(RanksCli, RunsSeveralJobs) {
  const chakra::proto::Report alone = ReportOf(kStep);
  const chakra::proto::Report two = ReportOf("--job " + kStep + "@2ms " + kStep);
  ASSERT_EQ(two.job_size(), 2);
  EXPECT_EQ(two.ranks(), 2 * alone.ranks());
  EXPECT_EQ(two.nodes(), 2 * alone.nodes());
  EXPECT_EQ(two.job(1).start_ps(), 2000000000);
  EXPECT_EQ(two.job(1).input(), kStep);
  EXPECT_EQ(two.job(0).makespan_ps(), two.job(1).makespan_ps());
  EXPECT_EQ(two.makespan_ps(), two.job(1).end_ps());
  EXPECT_EQ(alone.job_size(), 0);
  EXPECT_NE(Ran(kStep + " --job " + kStep).out.find("\nJobs\n"), std::string::npos);
}

// With --lanes single, ranks of unequal speed may make calls in unequal order.
TEST(RanksCli, ExplainsDeadlockOfUnevenRanks) {
  const std::string stage = std::string(CHAKRA_SHARED_DATA) + "/stage/llama_tiny_8";
  if (!std::filesystem::exists(stage)) GTEST_SKIP() << "no " << stage;
  const std::string run = stage + " --straggler 3=1.5 --placement random:2 --cluster dgx-h100:nodes=2";
  EXPECT_EQ(Ran(run).status, 0);
  const Result stuck = Ran(run + " --lanes single");
  EXPECT_EQ(stuck.status, 1);
  EXPECT_NE(stuck.out.find("--lanes recorded keeps the order of the trace"), std::string::npos) << stuck.out;
}

// Rank 0 of a job of two, replayed as a job of many ranks: the group of both ranks grows, and the report
// states this.
TEST(RanksCli, ScalesOneCapturedRankToManyRanks) {
  const std::string one = std::string(CHAKRA_SOURCE_DIR) + "/examples/capture/gloo_ddp_2 --select-ranks 0";
  const auto group = [](const chakra::proto::Report& report) {
    return report.collective_size() > 0 ? report.collective(0).ranks() : -1;
  };
  const chakra::proto::Report many = ReportOf(one + " --ranks 64 --cluster dgx-h100");
  EXPECT_EQ(group(many), 64);
  EXPECT_EQ(many.collective_size(), 1);
  ASSERT_EQ(many.assumption_size(), 1);
  EXPECT_NE(many.assumption(0).find("of 2 ranks grows to 64"), std::string::npos) << many.assumption(0);
  const std::string text = Ran(one + " --ranks 64 --cluster dgx-h100").out;
  EXPECT_NE(text.find("\nAssumed\n  group "), std::string::npos) << text;
  EXPECT_EQ(group(ReportOf(one + " --ranks 64 --replicas 2 --cluster dgx-h100")), 2);
  EXPECT_EQ(group(ReportOf(one + " --ranks 64 --replicas 16 --cluster dgx-h100")), 16);
  const Result alone = Ran(one + " --replicas 16");
  EXPECT_EQ(alone.status, 1);
  EXPECT_NE(alone.out.find("--ranks N"), std::string::npos) << alone.out;
}

// Rank 0's recorded times contain its waits for rank 1. In a job of copies of rank 0, no rank waits.
TEST(RanksCli, ScaledRankDropsRecordedWaits) {
  const std::string one = std::string(CHAKRA_SOURCE_DIR) + "/examples/capture/gloo_ddp_2 --select-ranks 0";
  const auto time = [](const chakra::proto::Report& r) {
    return r.collective(0).time_ps() / r.collective(0).count();
  };
  const auto warned = [](const chakra::proto::Report& r, const char* what) {
    for (const std::string& w : r.warning()) {
      if (w.find(what) != std::string::npos) return true;
    }
    return false;
  };
  const chakra::proto::Report as_it_is = ReportOf(one), many = ReportOf(one + " --ranks 4"),
                              slow = ReportOf(one + " --straggler 0=1.5");
  EXPECT_LT(time(many), time(as_it_is));
  EXPECT_EQ(time(many), time(slow));
  EXPECT_TRUE(warned(as_it_is, "include waits for ranks without a trace (the minimum"));
  EXPECT_TRUE(warned(many, "each takes the minimum of its repeats"));
  EXPECT_TRUE(warned(slow, "each takes the minimum of its repeats"));
  EXPECT_TRUE(warned(many, "although its groups have another number of ranks"));
}

// A run with very many ranks begins with a note about its possible duration, and still gives its result.
TEST(RanksCli, NotesTheTimeOfManyRanks) {
  chakra::TraceBuilder b(1);
  for (int i = 0; i < 400; ++i) b.Comp(0, 1);
  const std::string one = testing::TempDir() + "/ranks_cli_many.et";
  ASSERT_TRUE(b.Write(0, one).ok());
  const chakra::CommandResult many = chakra::RunCommand("replay " + one + " --ranks 100000 --format csv");
  EXPECT_EQ(many.status, 0) << many.err;
  EXPECT_NE(many.err.find("note: 100,000 ranks have 40,000,000 nodes; the run takes seconds where"),
            std::string::npos)
      << many.err;
  EXPECT_NE(many.err.find("about 1 min 20 s where each rank is simulated"), std::string::npos) << many.err;
  EXPECT_EQ(chakra::RunCommand("replay " + one + " --ranks 1000 --format csv").err, "");
  std::filesystem::remove(one);
}

TEST(RanksCli, RefusesBadOptions) {
  ExpectRefused("--straggler 3", 2, "expected RANK=FACTOR");
  ExpectRefused("--straggler gpu:3=2", 2, "expected device, host or rank");
  ExpectRefused("--straggler 99=2", 1, "--straggler \"99=2\": ranks: rank 99 of \"99\" is not in the run");
  ExpectRefused("--seed 0", 2, "--seed");
  ExpectRefused("--job x@10", 2, "a time with its unit");
  ExpectRefused("--job /nowhere/b", 1, "/nowhere/b");
  ExpectRefused("--placement rando:1", 1, "did you mean 'random'");
  ExpectRefused("--placement rando:1", 1, "--placement \"rando:1\": there is no placement rule");
  ExpectRefused("--fabric fluid --fault down:dimension=0,vertex=x", 1,
                "--fault \"down:dimension=0,vertex=x\": vertex: there is no vertex \"x\"");
  const std::string twice = Written("ranks_cli_placement.txt", "0-1: 0-1\n2 1\n");
  ExpectRefused("--placement " + twice, 1, twice + ":2: device 1 is already used by line 1");
}

}  // namespace
}  // namespace CHAKRA_FILE
