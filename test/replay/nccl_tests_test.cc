#include "replay/calibrate/nccl_tests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test/folders.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Printed text, made by the rules of each version.

template <typename... Args>
std::string F(const char* format, Args... args) {
  char buffer[256];
  std::snprintf(buffer, sizeof(buffer), format, args...);
  return buffer;
}

// "  time algbw busbw" of `bytes` in `us` with busbw / algbw = factor.
std::string Figures(double bytes, double us, double factor, const char* wrong = "0") {
  const double alg = bytes / us / 1000;
  return F("  %7.2f  %6.2f  %6.2f  %5s", us, alg, alg * factor, wrong);
}

double AllReduceFactor(int n) { return 2.0 * (n - 1) / n; }
double BlockFactor(int n) { return 1.0 * (n - 1) / n; }

std::string Head(const char* names, const char* halves = "out-of-place                       in-place") {
  return absl::StrCat("#\n#                    ", halves, "\n#       ", names,
                      "\n#        (B)    (elements)        (us)  (GB/s)  (GB/s)\n");
}

const char kModern[] =
    "size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong";

std::string Ranks(int n, int per_host = 8, int group_size = 1 << 20) {
  std::string out = "# Using devices\n";
  for (int r = 0; r < n; ++r) {
    out += F("#  Rank %2d Group %2d Pid %6d on host%d.site device %2d [0000:%02x:00] NVIDIA H100\n", r,
             r / group_size, 1000 + r, r / per_host, r % per_host, r % per_host);
  }
  return out;
}

// A row of 1 MiB of floats, both halves.
std::string Row(double factor, uint64_t count = 262144, const char* redop = "sum", int root = -1) {
  return F("%12d  %12d  %8s  %6s  %6d", 1 << 20, static_cast<int>(count), "float", redop, root) +
         Figures(1 << 20, 35.25, factor) + Figures(1 << 20, 34.75, factor) + "\n";
}

std::string Start(const char* name) { return absl::StrCat("# Collective test starting: ", name, "\n"); }

MeasuredRun Read(const std::string& text, const std::string& path = "log") {
  absl::StatusOr<MeasuredRun> run = ReadNcclTests(text, path);
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? *std::move(run) : MeasuredRun();
}

std::string ErrorOf(const std::string& text, const std::string& path = "log") {
  const absl::StatusOr<MeasuredRun> run = ReadNcclTests(text, path);
  EXPECT_FALSE(run.ok()) << run->rows.size() << " rows";
  return std::string(run.status().message());
}

std::string Brief(const MeasuredRow& r) {
  return absl::StrCat(std::string(Name(r.type)), " ", r.ranks, "/", r.nodes, " ", r.bytes, "B ", r.time_us,
                      "us", r.in_place ? " in" : " out", " line ", r.line);
}

std::vector<std::string> Briefs(const MeasuredRun& run) {
  std::vector<std::string> out;
  for (const MeasuredRow& r : run.rows) out.push_back(Brief(r));
  return out;
}

TEST(NcclTests, ReadsAModernLog) {
  const MeasuredRun run =
      Read("# nccl-tests version 2.17.6 nccl-headers=22809 nccl-library=22809\n" + Start("all_reduce_perf") +
           "# nThread 1 nGpus 1 minBytes 8 maxBytes 1048576 step: 2(factor) warmup iters: 1 iters: 20 agg "
           "iters: 1 "
           "validation: 1 graph: 0 unalign: 0\n#\n" +
           Ranks(16) + Head(kModern) + Row(AllReduceFactor(16)) +
           "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 55.5\n#\n# Collective test concluded: "
           "all_reduce_perf\n");
  EXPECT_THAT(Briefs(run), ElementsAre("all_reduce 16/2 1048576B 35.25us out line 26",
                                       "all_reduce 16/2 1048576B 34.75us in line 26"));
  EXPECT_THAT(run.warnings, IsEmpty());
  EXPECT_EQ(run.library_version, "2.28.9");
  EXPECT_EQ(run.device_name, "NVIDIA H100");
  EXPECT_EQ(run.processes, 16);
  EXPECT_EQ(run.gpus_per_process, 1);
  EXPECT_EQ(run.rows[0].dtype, "float");
  EXPECT_EQ(run.rows[0].redop, "sum");
  EXPECT_EQ(run.rows[0].device, "NVIDIA H100");
  EXPECT_EQ(run.rows[0].file, "log");
}

TEST(NcclTests, ReadsMilliseconds) {
  const MeasuredRun run = Read(
      "nThread 1 nGpus 2 minBytes 1048576 maxBytes 1048576 step: 1048576(bytes) iters: 20\n"
      "# Using devices\n#   Rank  0 on       gpu1 device  0 [0x04] Tesla P100\n"
      "#   Rank  1 on       gpu1 device  1 [0x06] Tesla P100\n\n"
      "#                      out-of-place                    in-place\n"
      "#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw     "
      " res\n"
      "     1048576        262144   float     sum    0.105   9.99   9.99    0e+00    0.104  10.08  10.08    "
      "0e+00\n"
      " Out of bounds values : 0 OK\n Avg bus bandwidth    : 10.0\n",
      "all_reduce.txt");
  EXPECT_THAT(Briefs(run), ElementsAre("all_reduce 2/1 1048576B 105us out line 8",
                                       "all_reduce 2/1 1048576B 104us in line 8"));
}

// Before 2.13 a test printed only the columns that it uses.
TEST(NcclTests, ReadsColumnsBefore213) {
  const std::string ranks = absl::StrReplaceAll(Ranks(8), {{"Group  0 ", ""}, {"[0000:", "[0x"}});
  const std::string halves = "  time   algbw   busbw  error     time   algbw   busbw  error";
  const auto row = [](const char* columns, int count, double factor) {
    return F("%12d  %12d  %8s  %s", 1 << 20, count, "float", columns) +
           Figures(1 << 20, 50, factor, "1e-07") + Figures(1 << 20, 49, factor, "0e+00") + "\n";
  };
  const auto brief = [&](const std::string& head, const std::string& row) {
    const MeasuredRun run = Read(ranks + Head((head + halves).c_str()) + row);
    EXPECT_EQ(run.rows.size(), 2);
    return run.rows.empty() ? "" : absl::StrCat(std::string(Name(run.rows[0].type)), " ", run.rows[0].ranks);
  };
  EXPECT_EQ(brief("size count type redop", row("sum", 262144, AllReduceFactor(8))), "all_reduce 8");
  EXPECT_EQ(brief("size count type root", row("0", 262144, 1)), "broadcast 8");
  EXPECT_EQ(brief("size count type redop root", row("sum 0", 262144, 1)), "reduce 8");
  EXPECT_EQ(brief("size count type redop", row("none", 32768, BlockFactor(8))), "all_to_all 8");
  // In these versions, the all-gather's algbw counts only the blocks that move.
  const double moved = (1 << 20) * BlockFactor(8);
  const std::string old = F("%12d  %12d  %8s", 1 << 20, 32768, "float") + Figures(moved, 50, 1, "0e+00") +
                          Figures(moved, 49, 1, "0e+00") + "\n";
  const MeasuredRun run = Read(ranks + Head(("size count type" + halves).c_str()) + old, "all_gather.log");
  EXPECT_THAT(Briefs(run), ElementsAre("all_gather 8/1 1048576B 50us out line 14",
                                       "all_gather 8/1 1048576B 49us in line 14"));
}

TEST(NcclTests, ReadsDatesIterationsAndAlgorithms) {
  const double f = AllReduceFactor(8);
  const std::string size = F("%12d  %12d  %8s  %6s  %6d", 1 << 20, 1 << 18, "float", "sum", -1);
  const std::string a = Figures(1 << 20, 35.25, f), b = Figures(1 << 20, 34.75, f, "N/A");
  const auto expect = [&](const std::string& head, const std::string& row, int rows) {
    const MeasuredRun run = Read(Start("all_reduce_perf") + Ranks(8) + head + row + "\n");
    EXPECT_EQ(run.rows.size(), rows) << row;
    EXPECT_THAT(run.warnings, IsEmpty());
    if (!run.rows.empty()) {
      EXPECT_EQ(run.rows.back().time_us, 34.75);
      EXPECT_TRUE(run.rows.back().in_place);
    }
    return run.rows.empty() ? MeasuredRow() : run.rows[0];
  };
  const std::string date = "  2026-01-31 23:59:59", stats = "    35.00    36.00    35.90     1.20";
  expect(Head(absl::StrCat(kModern, "  timestamp").c_str()), size + a + b + date, 2);
  expect(Head(absl::StrReplaceAll(kModern, {{"#wrong", "#wrong i_min i_max i_p99 i_cv%"}}).c_str()),
         size + a + stats + b + stats + date, 2);
  expect("", size + a + b + date, 2);           // no header
  expect("", size + a + stats + b + stats, 2);  // no header
  expect(Head(absl::StrCat(kModern, " host:1:2 [0] NCCL INFO").c_str()), size + a + b, 2);
  expect("", size + b, 1);  // no header, one half
  expect(Head("size count type redop root time algbw busbw #wrong", "in-place"), size + b, 1);
  const std::string named = "  Ring  LL128  24";
  MeasuredRow m = expect(Head(kModern), size + a + named + b + named, 2);
  EXPECT_EQ(m.algorithm + m.protocol + std::to_string(m.channels), "RingLL12824");
  m = expect(Head(kModern), size + a + b + named, 2);
  EXPECT_EQ(m.algorithm + m.protocol + std::to_string(m.channels), "RingLL12824");
  m = expect(Head(absl::StrReplaceAll(kModern, {{"#wrong", "#wrong algo proto nchannels"}}).c_str()),
             size + a + named + b + named, 2);
  EXPECT_EQ(m.algorithm + m.protocol + std::to_string(m.channels), "RingLL12824");
}

TEST(NcclTests, HeaderDecidesPlaceOfSingleHalf) {
  const std::string row =
      F("%d %d float sum -1", 1 << 20, 1 << 18) + Figures(1 << 20, 35, AllReduceFactor(8)) + "\n";
  const std::string names = "size count type redop root time algbw busbw #wrong";
  EXPECT_FALSE(Read(Ranks(8) + Head(names.c_str(), "out-of-place") + row).rows.at(0).in_place);
  EXPECT_TRUE(Read(Ranks(8) + Head(names.c_str(), "in-place") + row).rows.at(0).in_place);
}

TEST(NcclTests, ReadsLargeAndSmallFigures) {
  const MeasuredRun run =
      Read(Start("all_reduce_perf") + Ranks(2) + Head(kModern) +
           "     8      2  float sum -1     6.00    0.00    0.00      0     5.00    0.00    0.00      0\n"
           "17179869184000  4294967296000  float sum -1  1.0e+07    1718    1718      0  9999999    1718    "
           "1718  1e+06\n");
  ASSERT_EQ(run.rows.size(), 4);
  EXPECT_EQ(run.rows[0].time_us, 6);
  EXPECT_EQ(run.rows[2].time_us, 1e7);
  EXPECT_EQ(run.rows[2].bytes, 17179869184000u);
  EXPECT_THAT(run.warnings, ElementsAre(AllOf(HasSubstr("log:10: in-place"), HasSubstr("wrong elements"))));
}

TEST(NcclTests, ReadsRcclText) {
  const std::string text = absl::StrReplaceAll(Ranks(8), {{"Group  0 ", ""}});
  const MeasuredRun run =
      Read("rccl-tests: Version develop:abc123\nRCCL version : 2.22.3-develop:0d1e\nHIP version  : 6.3\n" +
           text + Head(kModern) + Row(AllReduceFactor(8)) + "# Testing 2 cycle.\n" + Row(AllReduceFactor(8)) +
           "# Errors with asterisks indicate errors that have exceeded the maximum threshold.\n");
  EXPECT_EQ(run.rows.size(), 4);
  EXPECT_EQ(run.library_version, "2.22.3");
  EXPECT_THAT(run.warnings, IsEmpty());
}

TEST(NcclTests, DropsAndNamesCutAndMixedRows) {
  const std::string good = Row(AllReduceFactor(4));
  const MeasuredRun run =
      Read(Ranks(4) + Head(kModern) + good + good.substr(0, 70) + "\n" +
           "   1048576  262144  float  sum  -1 host:41:52 [0] NCCL INFO Channel 00\n"
           "host:41:52 [0] NCCL INFO comm 0x1     " +
           good + absl::StrReplaceAll(good, {{"35.25", "3.25"}}) + "0: " + good + "[1,0]<stdout>:" + good +
           "   0   0  float sum -1  5.70 0.00 0.00 0 5.60 0.00 0.00 0\n");
  EXPECT_EQ(run.rows.size(), 7);
  EXPECT_THAT(run.warnings,
              ElementsAre(HasSubstr("log:11: a row that is cut"), HasSubstr("log:12: a row that is cut"),
                          HasSubstr("log:13: a row that is mixed"),
                          AllOf(HasSubstr("log:14: out-of-place: time 3.25 us"), HasSubstr("4 ranks")),
                          HasSubstr("log:17: size 0")));
}

TEST(NcclTests, SeparatesRuns) {
  const std::string all_reduce = Row(AllReduceFactor(4)), all_gather = Row(BlockFactor(8), 32768, "none");
  // Runs end at start lines.
  MeasuredRun run = Read(Start("all_reduce_perf") + Ranks(4) + Head(kModern) + all_reduce +
                         "# Collective test concluded: all_reduce_perf\n" + Start("all_gather_perf") +
                         Ranks(8) + Head(kModern) + all_gather);
  EXPECT_THAT(Briefs(run), ElementsAre(HasSubstr("all_reduce 4/1"), HasSubstr("all_reduce 4/1"),
                                       HasSubstr("all_gather 8/1"), HasSubstr("all_gather 8/1")));
  // Runs end at commands and headers.
  run = Read("+ mpirun -np 4 ./build/all_reduce_perf -b 8\n" + Ranks(4) + Head(kModern) + all_reduce +
             "+ mpirun -np 8 ./build/alltoall_perf -b 8\n" + Ranks(8) + Head(kModern) + all_gather);
  EXPECT_THAT(Briefs(run), ElementsAre(HasSubstr("all_reduce 4/1"), HasSubstr("all_reduce 4/1"),
                                       HasSubstr("all_to_all 8/1"), HasSubstr("all_to_all 8/1")));
  // Runs end at headers alone; the bandwidths give the ranks.
  run = Read(Head(kModern) + all_reduce + Head(kModern) + Row(AllReduceFactor(8)));
  EXPECT_THAT(Briefs(run), ElementsAre(HasSubstr("all_reduce 4/0"), HasSubstr("all_reduce 4/0"),
                                       HasSubstr("all_reduce 8/0"), HasSubstr("all_reduce 8/0")));
  // A run that failed before its first row does not affect the next run.
  run = Read("./all_gather_perf\n# nThread 1 nGpus 1 minBytes 8\n" + Ranks(16) +
             "Test NCCL failure\n./all_reduce_perf\n" + "# nThread 1 nGpus 1 minBytes 8\n" + Ranks(4) +
             Head(kModern) + all_reduce);
  EXPECT_THAT(Briefs(run), ElementsAre(HasSubstr("all_reduce 4/1"), HasSubstr("all_reduce 4/1")));
}

TEST(NcclTests, InfersTheCollective) {
  const auto infer = [](const std::string& row, const std::string& path = "log") {
    const MeasuredRun run = Read(Ranks(8) + Head(kModern) + row, path);
    return run.rows.empty() ? "none" : std::string(Name(run.rows[0].type));
  };
  const std::string share = Row(BlockFactor(8), 32768, "none"),
                    rooted = Row(BlockFactor(8), 32768, "none", 3);
  EXPECT_EQ(infer(Row(AllReduceFactor(8))), "all_reduce");
  EXPECT_EQ(infer(Row(1, 262144, "max", 0)), "reduce");
  EXPECT_EQ(infer(Row(1, 262144, "none", 0)), "broadcast");
  EXPECT_EQ(infer(Row(BlockFactor(8), 32768)), "reduce_scatter");
  EXPECT_EQ(infer(share, "d/all-gather_8.txt"), "all_gather");
  EXPECT_EQ(infer(share, "alltoall"), "all_to_all");
  EXPECT_EQ(infer(rooted, "gather.log"), "gather");
  EXPECT_EQ(infer(rooted, "scatter.log"), "scatter");
  // A file name that the columns contradict is ignored.
  EXPECT_EQ(infer(Row(AllReduceFactor(8)), "all_gather.log"), "all_reduce");
  const std::string head = Ranks(8) + Head(kModern);
  EXPECT_THAT(ErrorOf(head + share, "x.log"),
              AllOf(HasSubstr("x.log:14"), HasSubstr("all_gather, all_to_all")));
  EXPECT_THAT(ErrorOf(head + rooted, "all_gather.log"), HasSubstr("may be gather, scatter"));
  EXPECT_THAT(ErrorOf(Start("all_reducer_perf") + head),
              AllOf(HasSubstr("log:1"), HasSubstr("all_reducer_perf")));
}

TEST(NcclTests, SkipsRowsOfOtherTests) {
  const std::string good = Row(AllReduceFactor(8));
  const std::string cube = absl::StrReplaceAll(Row(1, 32768), {{"   sum", ""}});
  const auto left = [&](const std::string& rows) {
    const MeasuredRun run = Read(Ranks(8) + Head(kModern) + good + Head(kModern) + rows);
    EXPECT_EQ(run.rows.size(), 2);
    return run.warnings.empty() ? "" : run.warnings[0];
  };
  EXPECT_THAT(left("./sendrecv_perf\n" + Row(1)), HasSubstr("log:20: rows of sendrecv"));
  EXPECT_THAT(left("./alltoallv_perf\n" + cube), HasSubstr("alltoallv"));
  EXPECT_THAT(left(cube), HasSubstr("rows of hypercube"));
  EXPECT_THAT(ErrorOf(Ranks(8) + Head(kModern) + Row(1)),
              AllOf(HasSubstr("no measurement"), HasSubstr("sendrecv")));
  // On two ranks, an all-reduce's busbw is its algbw.
  EXPECT_THAT(Read(Ranks(2) + Head(kModern) + Row(1)).warnings, ElementsAre(HasSubstr("read as all_reduce")));
}

TEST(NcclTests, InfersTheRanks) {
  // Device lines of one process that end after 2,048 bytes.
  std::string cut = "# nThread 1 nGpus 8\n# Using devices\n";
  for (int p = 0; p < 2; ++p) {
    for (int r = 0; r < 3; ++r) {
      cut += F("#  Rank %2d Group  0 Pid %d on h%d device %d [0x0%d] A100\n", 8 * p + r, 100 + p, p, r, r);
    }
    cut += F("#  Rank %2d Group  0 P...\n", 8 * p + 3);
  }
  MeasuredRun run = Read(cut + Head(kModern) + Row(AllReduceFactor(16)));
  EXPECT_THAT(run.rows.at(0).ranks, 16);
  EXPECT_THAT(run.rows.at(0).nodes, 2);
  EXPECT_EQ(run.gpus_per_process, 8);
  EXPECT_EQ(run.processes, 2);
  EXPECT_THAT(run.warnings, IsEmpty());
  // rccl-tests omits the "..." and the end of the line.
  run = Read(absl::StrReplaceAll(cut, {{"P...\n", "Pid 1 on h"}}) + "\n" + Head(kModern) +
             Row(AllReduceFactor(16)));
  EXPECT_EQ(run.rows.at(0).ranks, 16);
  EXPECT_EQ(run.rows.at(0).nodes, 2);
  EXPECT_THAT(run.warnings, IsEmpty());
  // Only the ranks of rank 0's group count; the first part of a host's name identifies the host.
  run = Read(absl::StrReplaceAll(Ranks(16, 4, 8), {{"host1.site", "host0.lan"}}) + Head(kModern) +
             Row(AllReduceFactor(8)));
  EXPECT_EQ(run.rows.at(0).ranks, 8);
  EXPECT_EQ(run.rows.at(0).nodes, 1);
  EXPECT_THAT(run.warnings, IsEmpty());
  // Processes that were not built with MPI, each with the same rank 0.
  const std::string alone = Ranks(4);
  run = Read("# nThread 1 nGpus 4\n" + alone + absl::StrReplaceAll(alone, {{"Pid   1", "Pid   2"}}) +
             Head(kModern) + Row(AllReduceFactor(4)));
  EXPECT_EQ(run.rows.at(0).ranks, 4);
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("log:8: rank 0 for the second time")));
  // The bandwidths override the lines of ranks.
  run = Read(Ranks(16) + Head(kModern) + Row(AllReduceFactor(8)));
  EXPECT_EQ(run.rows.at(0).ranks, 8);
  EXPECT_THAT(run.warnings, ElementsAre(AllOf(HasSubstr("show 16 ranks"), HasSubstr("fits 8 ranks"))));
  // The buffer holds a block for each rank.
  EXPECT_EQ(Read(Start("all_gather_perf") + Row(BlockFactor(64), 4096, "none")).rows.at(0).ranks, 64);
  EXPECT_THAT(ErrorOf(Row(AllReduceFactor(512))), AllOf(HasSubstr("log:1"), HasSubstr("how many ranks")));
  EXPECT_THAT(ErrorOf(Start("broadcast_perf") + Row(1, 262144, "none", 0)), HasSubstr("how many ranks"));
  EXPECT_THAT(ErrorOf(Start("broadcast_perf") + Ranks(8) + Row(0.5, 262144, "none", 0)),
              HasSubstr("not those of a broadcast"));
  EXPECT_THAT(ErrorOf(Ranks(1) + Head(kModern) + Row(0)), HasSubstr("run of one rank"));
}

TEST(NcclTests, LastLineOfRankListIsEnough) {
  const std::string all = Ranks(8);
  const std::string last = all.substr(all.rfind('#', all.size() - 2));
  const MeasuredRun run = Read(last + Head(kModern) + Row(AllReduceFactor(8)));
  EXPECT_EQ(run.rows.at(0).ranks, 8);
  EXPECT_EQ(run.rows.at(0).nodes, 0) << "the other lines may name other hosts";
  EXPECT_TRUE(run.warnings.empty()) << run.warnings[0];
  // The first line alone names one rank, but one rank has no bus bandwidth.
  EXPECT_EQ(
      Read(all.substr(0, all.find('\n') + 1) + Head(kModern) + Row(AllReduceFactor(8))).rows.at(0).ranks, 8);
}

TEST(NcclTests, RemovesPrefixesOfLines) {
  const std::string log =
      Ranks(8) + Head(kModern) + Row(AllReduceFactor(8)) + Row(AllReduceFactor(8));
  for (const char* tag :
       {"2026-11-27T10:00:00.123456789Z ", "[pod/nccl-0/main] ", "nccl-1  | ", "2026-11-27 10:00:00,123 ",
        "[2026-11-27 10:00:00] ", "0: ", "node1: ", "(Worker pid=17) ",
        "Nov 27 10:00:00 node1 job[17]: ", "[1,0]<stdout>:", "[pod/nccl-0/main] 2026-11-27T10:00:00Z "}) {
    const MeasuredRun run =
        Read(tag + absl::StrReplaceAll(log.substr(0, log.size() - 1), {{"\n", absl::StrCat("\n", tag)}}));
    ASSERT_EQ(run.rows.size(), 4u) << tag;
    EXPECT_EQ(run.rows[0].ranks, 8) << tag;
    EXPECT_TRUE(run.warnings.empty()) << tag << run.warnings[0];
  }
}

TEST(NcclTests, WarnsOfUnusualTimings) {
  const std::string head = absl::StrReplaceAll(kModern, {{"time", "cputime"}});
  const MeasuredRun run =
      Read(Ranks(8) + Head(head.c_str()) + absl::StrReplaceAll(Row(AllReduceFactor(8)), {{"35.25", "7.00"}}));
  ASSERT_EQ(run.rows.size(), 2);
  EXPECT_NEAR(run.rows[0].time_us, 35.25, 0.01);
  EXPECT_THAT(
      Read("# nThread 1 nGpus 1 agg iters: 4 validation: 1 graph: 2\n# Blocking Enabled: wait\n" + Ranks(8) +
           "# Reducing maxBytes to 100 due to memory limitation\n" + Head(kModern) + Row(AllReduceFactor(8)))
          .warnings,
      ElementsAre(HasSubstr("log:1: -m 4"), HasSubstr("-G 2"), HasSubstr("log:2: -z"),
                  HasSubstr("log:12: not enough memory")));
}

std::string Document(const std::string& results) {
  return R"({"version":3,"start_time":"2026-01-01 00:00:00","args":["./build/all_reduce_perf","-b","8"],"env":["A=\"inf\" {"],
"nccl_version":22809,"config":{"nthreads":1,"ngpus":4,"devices":[
{"rank":0,"group":0,"pid":1,"hostname":"a.b","device":0,"device_hex":"0x1","device_info":"NVIDIA B200"},
{"rank":4,"group":0,"pid":2,"hostname":"c.b","device":0,"device_hex":"0x1","device_info":"NVIDIA B200"}]},"results":[)" +
         results + "]}";
}

TEST(NcclTests, ReadsJson) {
  const MeasuredRun run = Read(Document(R"(
{"size":1048576,"count":262144,"type":"float","redop":"sum","root":"    -1","out_of_place":{"time":35.250000,"alg_bw":29.746837,"bus_bw":52.056965,"nwrong":null},"in_place":{"time":34.750000,"alg_bw":30.174849,"bus_bw":52.805986,"nwrong":0.000000}},
{"size":8,"count":2,"type":"float","redop":"sum","root":"    -1","out_of_place":null,"in_place":{"time":5.0,"alg_bw":inf,"bus_bw":"nan","nwrong":-nan}})"));
  EXPECT_THAT(Briefs(run),
              ElementsAre("all_reduce 8/2 1048576B 35.25us out line 5",
                          "all_reduce 8/2 1048576B 34.75us in line 5", "all_reduce 8/2 8B 5us in line 6"));
  EXPECT_EQ(run.library_version, "2.28.9");
  EXPECT_EQ(run.device_name, "NVIDIA B200");
  EXPECT_EQ(run.processes, 2);
  EXPECT_EQ(run.gpus_per_process, 4);
  EXPECT_THAT(run.warnings, IsEmpty());
  EXPECT_THAT(ErrorOf(Document(R"({"size":"x"})")),
              AllOf(HasSubstr("\"size\": expected an integer"), HasSubstr("log:4")));
  EXPECT_THAT(ErrorOf(Document("")), HasSubstr("no measurement"));
  EXPECT_THAT(ErrorOf(R"({"traceEvents":[]})"), HasSubstr("expected an object with \"results\""));
  EXPECT_THAT(ErrorOf(Document("").substr(0, 300)), HasSubstr("log:"));
}

TEST(NcclTests, ReadsRcclJsonLines) {
  const std::string rest =
      R"(, "size":131072, "type":"float", "redop":"sum", "inPlace":0, "time":35.25, "algBw":29.7468, "busBw":26.0285, "wrong":N/A})";
  MeasuredRun run =
      Read(R"({"name":"ReduceScatter", "nodes":2, "ranks":8, "ranksPerNode":4, "gpusPerRank":1)" + rest +
           "\n" + R"({"name":ReduceScatter, "gpus":8)" + rest + "\n");
  // The size in the file is that of the received block.
  EXPECT_THAT(Briefs(run), ElementsAre("reduce_scatter 8/2 1048576B 35.25us out line 1",
                                       "reduce_scatter 8/1 1048576B 35.25us out line 2"));
  EXPECT_THAT(ErrorOf(R"({"name":"Reduced", "gpus":8)" + rest), HasSubstr("\"name\": expected"));
  EXPECT_THAT(ErrorOf(R"({"name":"AllReduce", "gpus":0)" + rest), HasSubstr("\"gpus\": expected 1 to"));
}

TEST(NcclTests, ReadsRcclCsv) {
  const std::string head =
      "collective, ranks, rankspernode, gpusperrank, size, type, redop, inplace, time, algbw, busbw, "
      "#wrong\n";
  MeasuredRun run = Read(head +
                         "AllReduce, 2, 16, 8, 1, 1048576, float, sum, 1, 35.25, 29.7468, 55.7753, 0\n"
                         "AllReduce, 1, 32, 32, 1, 1048576, float, sum, 0, 35.25, 29.7468, 57.6344, 0\n"
                         "AllReduce, 1, 3");
  EXPECT_THAT(Briefs(run), ElementsAre("all_reduce 16/2 1048576B 35.25us in line 2",
                                       "all_reduce 32/0 1048576B 35.25us out line 3"));
  EXPECT_THAT(run.warnings,
              ElementsAre(HasSubstr("log:3: one node of 32"), HasSubstr("log:4: the last line is cut")));
  EXPECT_THAT(ErrorOf(head + "AllReduce, 2, 16\n"),
              AllOf(HasSubstr("log:2"), HasSubstr("expected 12 fields")));
  EXPECT_THAT(ErrorOf(head + "AllReduce, 2, 16, 8, 1, many, float, sum, 1, 35.25, 29.7, 55.7, 0\n"),
              HasSubstr("column 5 (bytes): expected a number of bytes, found \"many\""));
  run = Read(
      "collective, gpus, size, type, redop, inplace, time, algbw, busbw, #wrong\n"
      "AllGather, 8, 1048576, float, none, 0, 35.25, 29.7468, 26.0285, 0\n");
  EXPECT_THAT(Briefs(run), ElementsAre("all_gather 8/1 1048576B 35.25us out line 2"));
}

TEST(NcclTests, ReadsCollectiveCommandCsv) {
  const std::string head =
      "collective,ranks,bytes,algorithm,protocol,channels,time_us,algbw_GBps,busbw_GBps\n";
  const MeasuredRun run = Read(
      head + "all_reduce,8,1048576,ring,LL128,24,35.25,29.75,52.06\n\"all_to_all\",8,8,,,,5,0.00,0.00\n");
  EXPECT_THAT(Briefs(run),
              ElementsAre("all_reduce 8/0 1048576B 35.25us out line 2", "all_to_all 8/0 8B 5us out line 3"));
  EXPECT_EQ(run.rows[0].algorithm, "ring");
  EXPECT_EQ(run.rows[0].protocol, "LL128");
  EXPECT_EQ(run.rows[0].channels, 24);
  EXPECT_THAT(ErrorOf("collective,ranks,size\n"), HasSubstr("no column time_us or time"));
  EXPECT_THAT(ErrorOf(head + "all_reduced,8,8,,,,5,0,0\n"), HasSubstr("column 1 (collective)"));
  EXPECT_THAT(ErrorOf(head + "\"all_reduce,8\n"), HasSubstr("log:2: expected the quote"));
  EXPECT_THAT(ErrorOf(head), HasSubstr("no measurement found"));
  // A time and a bandwidth of different measurements.
  EXPECT_THAT(ErrorOf(head + "all_reduce,8,1048576,ring,LL128,24,35.25,3.00,5.25\n"),
              HasSubstr("not those of a all_reduce"));
}

TEST(NcclTests, RefusesOtherFiles) {
  for (const char* text :
       {"", "\n\n", "hello\n", "#  Rank  0\n", "\xff\xfe", "a,b\n1,2\n", "# Avg bus bandwidth : 5\n"}) {
    EXPECT_THAT(ErrorOf(text, "f.txt"),
                AllOf(HasSubstr("f.txt: no measurement found"), HasSubstr("rows of nccl-tests")));
  }
}

TEST(NcclTests, ReadsValidationMeasurements) {
  const std::string path = std::string(CHAKRA_SHARED_DATA) + "/validation/collectives_measured.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const MeasuredRun run = Read(text.str(), path);
  EXPECT_EQ(run.rows.size(), 239);
  EXPECT_THAT(run.warnings, IsEmpty());
  ASSERT_GT(run.rows.size(), 100);
  EXPECT_EQ(Brief(run.rows[0]), "all_reduce 8/1 1024B 44.8us in line 2");
  EXPECT_EQ(run.rows[0].device, "A100-SXM4-80GB");
  int nvls = 0;
  for (const MeasuredRow& r : run.rows) nvls += r.algorithm == "NVLS";
  EXPECT_EQ(nvls, 27);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
