// Runs `chakra-replay calibrate` as a user does.
#include <gmock/gmock.h>

#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

class CalibrateCli : public Bench {
 protected:
  // Writes a CSV table of `collective all_reduce` on the cluster, and returns its path.
  std::string Table(const std::string& cluster, const std::string& name) const {
    const std::string path = At(name);
    const Outcome r =
        Run("collective all_reduce --bytes 1KiB..1GiB --cluster " + cluster + " --format csv -o " + path);
    EXPECT_EQ(r.status, 0) << r.err;
    return path;
  }
};

TEST_F(CalibrateCli, FitsAClusterToATable) {
  const std::string slow = Table("dgx-a100:nvlink_gbytes_per_s=240", "slow.csv");
  const Outcome fit =
      Run("calibrate " + slow + " --cluster dgx-a100 -o " + At("fit.txtpb") + " --rows " + At("rows.csv"));
  ASSERT_EQ(fit.status, 0) << fit.err;
  EXPECT_THAT(fit.out, HasSubstr("fitted: ring/simple bus_share: 0.952 -> 0.7616"));
  EXPECT_THAT(fit.out, HasSubstr("21 rows fitted: median error"));
  const Outcome again = Run("collective all_reduce --bytes 1GiB --format csv --cluster " + At("fit.txtpb"));
  const Outcome truth =
      Run("collective all_reduce --bytes 1GiB --format csv --cluster dgx-a100:nvlink_gbytes_per_s=240");
  EXPECT_EQ(again.out.substr(again.out.find("simple"), 15), truth.out.substr(truth.out.find("simple"), 15));
  const Outcome json =
      Run("calibrate " + slow + " --cluster dgx-a100 -q -o " + At("fit.json") + " --fit-every 3");
  EXPECT_EQ(json.status, 0) << json.err;
  EXPECT_THAT(json.out, HasSubstr("the other 14 rows: median error"));
  EXPECT_EQ(Run("collective all_reduce --bytes 1GiB --cluster " + At("fit.json")).status, 0);
}

// Files are written before standard output, which may be closed.
TEST_F(CalibrateCli, WritesFilesWhenStandardOutputIsClosed) {
  const std::string calibrate = "calibrate " + Table("dgx-a100", "table.csv") + " --cluster dgx-a100 ";
  EXPECT_EQ(Run(calibrate + "-o - --rows rows.csv", "&-").status, 1);
  EXPECT_THAT(Content(At("rows.csv")), HasSubstr("all_reduce"));
  EXPECT_EQ(Run(calibrate + "-o fit.txtpb", "&-").status, 1);
  EXPECT_THAT(Content(At("fit.txtpb")), HasSubstr("topology"));
}

TEST_F(CalibrateCli, ReadsAllLogsOfAFolder) {
  const std::string table = Table("dgx-a100", "table.csv");
  Write("logs/a/1.csv", Content(table));
  Write("logs/notes.txt", "measured in May");
  const Outcome fit = Run("calibrate logs --cluster dgx-a100 -q -o " + At("fit.txtpb"));
  EXPECT_EQ(fit.status, 0) << fit.err;
  EXPECT_THAT(fit.out, HasSubstr("21 rows fitted"));
  EXPECT_THAT(fit.err, HasSubstr("left out, not printed by a benchmark: logs/notes.txt"));
  Write("none/notes.txt", "measured in May");
  EXPECT_THAT(Run("calibrate none --cluster dgx-a100 -o x").err, HasSubstr("not a log of collective calls"));
}

TEST_F(CalibrateCli, FitsNetworkSeparatelyFromLibrary) {
  const std::string other =
      " --cluster azure-ndv4 --set collectives.library.level[1].transport.message_us=4.5"
      " --set collectives.library.level[1].transport.rate_share=0.8 --format csv -o ";
  for (const std::string ranks : {"8", "16", "32"}) {
    const Outcome r =
        Run("collective all_reduce --bytes 8..1GiB --ranks " + ranks + other + At("ar" + ranks + ".csv"));
    ASSERT_EQ(r.status, 0) << r.err;
  }
  const Outcome fit =
      Run("calibrate ar8.csv ar16.csv ar32.csv --cluster azure-ndv4 -q -o " + At("fit.txtpb"));
  ASSERT_EQ(fit.status, 0) << fit.err;
  EXPECT_THAT(
      fit.out,
      HasSubstr("fitted: transport.message_us: 0.8 -> 4.5, determined by 22 rows of all_reduce on 2 and "
                "4 nodes, 8 bytes to 8 KiB"));
  EXPECT_THAT(fit.out, HasSubstr("fitted: transport.rate_share: 0.92 -> 0.8, determined by 8 rows"));
  EXPECT_THAT(fit.out,
              HasSubstr("not fitted: transport.post_us stays 2: not determined: needs rows of all_to_all"));
  EXPECT_THAT(Content(At("fit.txtpb")), HasSubstr("name: \"infiniband-hdr\""));
  EXPECT_EQ(Run("collective all_reduce --bytes 1GiB --ranks 16 --cluster " + At("fit.txtpb")).status, 0);
}

TEST_F(CalibrateCli, FitsMessagesBetweenTwoDevices) {
  Write("ib_write_lat.log",
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n"
        " 8       1000          1.76           6.12         1.80                1.81\n");
  const Outcome fit = Run("calibrate ib_write_lat.log --cluster azure-ndv4 -o " + At("fit.txtpb"));
  ASSERT_EQ(fit.status, 0) << fit.err;
  EXPECT_THAT(fit.out,
              HasSubstr("fitted: topology.dimension[1].latency_ns: 500 -> 900, measured by ib_write_lat"));
  EXPECT_THAT(fit.out, HasSubstr("not determined: needs rows of collectives"));
  Write("osu.log",
        "# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n1024  33.1\n4096  33.5\n");
  EXPECT_THAT(Run("calibrate osu.log --cluster azure-ndv4 -o x").err,
              HasSubstr("osu.log:1: the file does not say how many ranks"));
  const Outcome osu = Run("calibrate osu.log --ranks 8 --cluster azure-ndv4 -o " + At("osu.txtpb"));
  EXPECT_EQ(osu.status, 0) << osu.err;
  EXPECT_THAT(osu.out, HasSubstr("2 rows fitted"));
}

TEST_F(CalibrateCli, RanksMayDifferByFile) {
  const std::string head = "# OSU NCCL-CUDA Allreduce Latency Test v7.5\n# Size  Avg Latency(us)\n";
  Write("two.log", head + "1024 33.1\n4096 33.5\n8192 35.1\n");
  Write("four.log", head + "1024 51.1\n4096 51.9\n8192 54.6\n");
  const std::string to = " --cluster azure-ndv4 -o " + At("fit.txtpb");
  const Outcome each = Run("calibrate two.log four.log --ranks 16 --ranks four.log=32" + to);
  ASSERT_EQ(each.status, 0) << each.err;
  EXPECT_THAT(each.out, HasSubstr("fitted: transport.message_us: 0.8 -> "));
  EXPECT_THAT(each.out, HasSubstr("determined by 6 rows of all_reduce on 2 and 4 nodes, 1 KiB to 8 KiB"));
  EXPECT_THAT(
      Run("calibrate two.log --ranks for.log=32" + to).err,
      HasSubstr(
          "--ranks is \"for.log=32\", but \"for.log\" is not one of the logs; expected one of: two.log"));
  for (const char* wrong : {"1", "x", "two.log=", "two.log=-2", "5000000"}) {
    EXPECT_THAT(Run(std::string("calibrate two.log --ranks ") + wrong + to).err,
                HasSubstr("expected N or FILE=N, 2 to 4194304 ranks"))
        << wrong;
  }
}

TEST_F(CalibrateCli, RefusesAFileOfTwoBenchmarks) {
  Write("both.log",
        "# OSU MPI Latency Test v7.5\n# Size  Latency (us)\n8 3.1\n"
        "collective,ranks,bytes,time_us,busbw\nall_reduce,16,1024,30,1\n");
  EXPECT_THAT(Run("calibrate both.log --cluster azure-ndv4 -o x").err,
              HasSubstr("both.log: has tables of nccl-tests and of OSU's micro-benchmarks or perftest"));
}

TEST_F(CalibrateCli, FitEveryAcceptsLogsOfMessagesOnly) {
  Write("lat.log", "# OSU MPI Latency Test v7.5\n# Size  Latency (us)\n8 3.1\n");
  EXPECT_EQ(Run("calibrate lat.log --fit-every 3 --cluster azure-ndv4 -o " + At("x.txtpb")).status, 0);
}

// An all-gather in place copies nothing, so rows in place and out of place are never fitted together.
TEST_F(CalibrateCli, FitsInPlaceRowsSeparately) {
  std::string log = "collective,ranks,bytes,time_us,inplace,type\n";
  for (uint64_t bytes = 1 << 20; bytes <= uint64_t{1} << 30; bytes *= 2) {
    const double us = 60 + static_cast<double>(bytes) / 150e3;
    for (const int in : {0, 1})
      log += "all_gather,8," + std::to_string(bytes) + "," + std::to_string(in ? us : 1.3 * us) + "," +
             std::to_string(in) + ",float\n";
  }
  Write("halves.csv", log);
  const Outcome out = Run("calibrate halves.csv --cluster dgx-a100 -q -o " + At("out.txtpb"));
  ASSERT_EQ(out.status, 0) << out.err;
  EXPECT_THAT(out.out, HasSubstr("11 rows fitted"));
  EXPECT_THAT(out.out, HasSubstr("11 rows in place, not fitted: median error"));
  const Outcome in = Run("calibrate halves.csv --half in-place --cluster dgx-a100 -q -o " + At("in.txtpb"));
  ASSERT_EQ(in.status, 0) << in.err;
  EXPECT_THAT(in.out, HasSubstr("11 rows out of place, not fitted: median error"));
}

TEST_F(CalibrateCli, RefusesALogWithoutTimes) {
  std::string log;
  for (const int r : {0, 1})
    log += "h:" + std::to_string(10 + r) + ":10 [" + std::to_string(r) +
           "] NCCL INFO ncclCommInitRank comm 0x55" + std::to_string(r) + " rank " + std::to_string(r) +
           " nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x7c3f - Init COMPLETE\n";
  for (const int r : {0, 1})
    log += "h:" + std::to_string(10 + r) + ":10 [" + std::to_string(r) +
           "] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f00 recvbuff 0x7f00 acc 0x0 count 1024 datatype 9 "
           "op 0 root 0 comm 0x55" +
           std::to_string(r) + " [nranks=2] stream 0x5\n";
  Write("nccl.log", log);
  EXPECT_THAT(Run("calibrate nccl.log --cluster dgx-a100 -o x").err,
              HasSubstr("0 timed by the host, 0 not logged by all members, 1 without size or time"));
}

TEST_F(CalibrateCli, RefusesToOverwriteOrToReadEndlessly) {
  const std::string table = Table("dgx-a100", "table.csv");
  const auto fails = [&](const std::string& arguments, const std::string& message, int status = 1) {
    const Outcome r = Run("calibrate " + arguments);
    EXPECT_EQ(r.status, status) << arguments;
    EXPECT_THAT(r.err, HasSubstr(message)) << arguments;
  };
  fails(table + " --cluster dgx-a100 -o " + table, "would be overwritten");
  fails(table + " --cluster dgx-a100 -o " + At("x") + " --rows " + At("x"), "are the same file");
  fails("/dev/zero --cluster dgx-a100 -o " + At("x"), "more than 256 MiB");
  fails(At("none.log") + " --cluster dgx-a100 -o " + At("x"), "No such file");
  fails("--cluster dgx-a100 -o " + At("x"), "expected at least one log", 2);
  fails(table + " -o " + At("x"), "expected --cluster", 2);
  fails(table + " --cluster dgx-a100", "expected -o FILE", 2);
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
