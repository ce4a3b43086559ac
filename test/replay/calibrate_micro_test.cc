// The output of OSU's micro-benchmarks and of perftest, and the network that is fitted to it.
#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "replay/calibrate/micro_benchmarks.h"
#include "replay/calibrate/point_fit.h"
#include "test/replay/calibrate_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

MicroRun ReadMicro(const std::string& text, int ranks = 0, const std::string& path = "m.log") {
  absl::StatusOr<MicroRun> run = ReadMicroBenchmarks(text, path, ranks);
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? *std::move(run) : MicroRun();
}

std::string MicroError(const std::string& text, int ranks = 0) {
  const absl::StatusOr<MicroRun> run = ReadMicroBenchmarks(text, "m.log", ranks);
  EXPECT_FALSE(run.ok());
  return std::string(run.status().message());
}

const char kOsuLatency[] =
    "\n# OSU MPI-CUDA Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n"
    "1                       3.31\n8                       3.40\n64                      3.52\n";
const char kOsuBandwidth[] =
    "# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n1        0.00\n4194304      21500.00\n";
const char kLine[] =
    "---------------------------------------------------------------------------------------\n";

std::string Perftest(const std::string& title, const std::string& header, const std::string& rows) {
  return absl::StrCat(
      kLine, "                    ", title,
      "\n Dual-port       : OFF\t\tDevice         : mlx5_0\n Number of qps   : 1\t\tTransport "
      "type : IB\n Mtu             : 4096[B]\n",
      kLine, " local address: LID 0x01 QPN 0x0215 PSN 0x79fcd6\n", kLine, header, "\n",
      "Conflicting CPU frequency values detected: 2400.0 != 1873.4. CPU Frequency is not max.\n", rows,
      kLine);
}

const char kLatencyColumns[] =
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
    "99% "
    "percentile[usec]   99.9% percentile[usec]";
const char kRateColumns[] =
    " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]";

TEST(MicroBenchmarks, ReadsOsuPointToPoint) {
  const MicroRun run = ReadMicro(absl::StrCat("srun: job 12 queued\n", kOsuLatency, "\n", kOsuBandwidth));
  ASSERT_THAT(run.points, SizeIs(4));
  EXPECT_EQ(run.points[1].test, "OSU MPI-CUDA Latency Test");
  EXPECT_EQ(run.points[1].bytes, 8u);
  EXPECT_DOUBLE_EQ(run.points[1].latency_us, 3.4);
  EXPECT_EQ(run.points[1].line, 7);
  EXPECT_DOUBLE_EQ(run.points[3].gbytes_per_s, 21.5);  // MB/s are 1e6 bytes
  EXPECT_THAT(run.warnings, ElementsAre("m.log:12: a rate of 0, which has too few digits: left out"));
  const MicroRun both = ReadMicro(
      "# OSU MPI Bi-Directional Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)\n4194304  40000.00\n");
  EXPECT_DOUBLE_EQ(both.points.at(0).gbytes_per_s, 20);
  EXPECT_TRUE(both.points.at(0).halved);
}

// Some tests print the size of one rank's part, others the size of the buffer.
TEST(MicroBenchmarks, ReadsOsuCollectives) {
  const auto bytes = [](const std::string& name) {
    const MicroRun run =
        ReadMicro(absl::StrCat("# OSU MPI ", name,
                               " Latency Test v7.4\n# Size       Avg Latency(us)   Min Latency(us)   Max "
                               "Latency(us)  Iterations\n1024   33.10    32.00    34.00   100\n"),
                  8);
    EXPECT_THAT(run.rows, SizeIs(1)) << name;
    EXPECT_DOUBLE_EQ(run.rows.at(0).time_us, 33.1);
    EXPECT_EQ(run.rows.at(0).ranks, 8);
    return run.rows.at(0).bytes;
  };
  EXPECT_EQ(bytes("Allreduce"), 1024u);
  EXPECT_EQ(bytes("Broadcast"), 1024u);
  EXPECT_EQ(bytes("Reduce_scatter"), 1024u);
  EXPECT_EQ(bytes("Allgather"), 8192u);
  EXPECT_EQ(bytes("All-to-All Personalized Exchange"), 8192u);
  EXPECT_EQ(bytes("Gather"), 8192u);
  // OSU with NCCL gives no warning.
  const MicroRun nccl =
      ReadMicro("# OSU NCCL-CUDA Allreduce Latency Test v7.5\n# Size  Avg Latency(us)\n1048576  95.18\n", 16);
  EXPECT_THAT(nccl.warnings, IsEmpty());
  EXPECT_EQ(nccl.rows.at(0).type, CollectiveType::kAllReduce);
}

TEST(MicroBenchmarks, ReadsUnitsOfPerftest) {
  const MicroRun lat = ReadMicro(Perftest("RDMA_Write Latency Test", kLatencyColumns,
                                          " 8       1000          1.76           6.12         1.79       "
                                          "1.80       0.06       1.88         6.12\n"));
  ASSERT_THAT(lat.points, SizeIs(1));
  EXPECT_DOUBLE_EQ(lat.points[0].latency_us, 1.79);  // the typical one
  const MicroRun read = ReadMicro(Perftest("RDMA_Read Latency Test", kLatencyColumns,
                                           " 8   1000   3.50   6.12   3.60   3.70   0.06   4.0   6.12\n"));
  EXPECT_DOUBLE_EQ(read.points.at(0).latency_us, 1.8);  // there and back
  const MicroRun rate =
      ReadMicro(Perftest("Send BW Test", kRateColumns,
                         " 65536      1000             2757.96            2757.93\t\t   0.044127\n"));
  EXPECT_NEAR(rate.points.at(0).gbytes_per_s, 2.89190, 1e-4);  // MB/sec are 2^20 bytes
  const MicroRun bits =
      ReadMicro(Perftest("RDMA_Write Bidirectional BW Test",
                         " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]",
                         " 8388608    5000             380.10            378.00              0.005633\n"));
  EXPECT_NEAR(bits.points.at(0).gbytes_per_s, 378.0 / 16, 1e-9);
  // Without a title, the name of the file gives the test.
  const MicroRun named = ReadMicro(absl::StrCat(kLatencyColumns, "\n 8 1000 3.5 6.1 3.6 3.7 0.1 4.0 6.1\n"),
                                   0, "logs/ib_read_lat.txt");
  EXPECT_DOUBLE_EQ(named.points.at(0).latency_us, 1.8);
}

TEST(MicroBenchmarks, AreRecognisedByTheirHeaders) {
  EXPECT_TRUE(LooksLikeMicroBenchmark(kOsuLatency));
  EXPECT_TRUE(LooksLikeMicroBenchmark(Perftest("Send BW Test", kRateColumns, "")));
  EXPECT_FALSE(LooksLikeMicroBenchmark("# Size Latency (us)\n1 2\n"));
  EXPECT_FALSE(LooksLikeMicroBenchmark("#       size         count      type   busbw\n"));
  EXPECT_FALSE(LooksLikeMicroBenchmark(""));
}

TEST(MicroBenchmarks, RefusalsNameFileLineAndExpectedValue) {
  EXPECT_THAT(
      MicroError("# OSU MPI Allgather Latency Test v7.4\n# Size Avg Latency(us)\n8 3.1\n"),
      HasSubstr("m.log:1: the file does not say how many ranks ran \"OSU MPI Allgather Latency Test\"; "
                "expected --ranks N"));
  EXPECT_THAT(MicroError("# OSU MPI Latency Test v7.4\n8 3.1\n"),
              HasSubstr("m.log:2: a row of \"OSU MPI Latency Test\" before its line"));
  EXPECT_THAT(
      MicroError("# OSU MPI Latency Test v7.4\n# Size  Bandwidth (MB/s)\n8 3.1\n"),
      HasSubstr("m.log:2: columns \"# Size  Bandwidth (MB/s)\" below \"OSU MPI Latency Test\"; expected"));
  EXPECT_THAT(MicroError("# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n8\n"),
              HasSubstr("m.log:3: a row of 1 columns; expected 2 or more"));
  EXPECT_THAT(MicroError("# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n8 -1.5\n"),
              HasSubstr("m.log:3: time \"-1.5\"; expected a number above 0"));
  EXPECT_THAT(MicroError("# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n99999999999999999999 1\n"),
              HasSubstr("m.log:3: size \"99999999999999999999\"; expected whole bytes"));
  EXPECT_THAT(MicroError("# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n"),
              HasSubstr("no measurement found"));
  EXPECT_THAT(MicroError("# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)\n  3.1\n"),
              HasSubstr("\"OSU MPI Barrier Latency Test\" measures neither messages nor a collective"));
  EXPECT_THAT(MicroError(absl::StrCat(kLatencyColumns, "\n 8 1000 3.5 6.1 3.6 3.7 0.1 4.0 6.1\n")),
              HasSubstr("m.log:1: a table of latencies without its title; expected"));
  EXPECT_THAT(
      MicroError(Perftest("Send BW Test", kRateColumns, " 65536  1000  2757.96  2757.93  0.088254\n")),
      HasSubstr("rate 2757.93 is not that of 0.088254 million messages of 65536 bytes a second"));
  EXPECT_THAT(MicroError(Perftest("Send BW Test", kRateColumns, " 65536  1000  2757.96\n")),
              HasSubstr("a row of 3 columns; expected 5 or more"));
}

// One-sided tests wait for an answer, or for nothing.
TEST(MicroBenchmarks, OneSidedTestsAreLeftOut) {
  for (const char* name : {"MPI_Put", "MPI_Put-CUDA", "MPI_Get_accumulate"}) {
    const std::string text = absl::StrCat("# OSU ", name,
                                          " Latency Test v7.5\n# Window creation: MPI_Win_allocate\n"
                                          "# Size          Latency (us)\n8   3.05\n");
    EXPECT_THAT(MicroError(text), HasSubstr("measures neither messages nor a collective: left out")) << name;
    EXPECT_THAT(ReadMicro(absl::StrCat(text, kOsuLatency)).points, SizeIs(3)) << name;
  }
}

TEST(MicroBenchmarks, RefusesSizesThatAreNotWhole) {
  const std::string head =
      "# OSU MPI Latency Test v7.5\n# Datatype: MPI_CHAR.\n# Size  Latency (us)\n1 3.3\n";
  for (const char* size : {"-8", "8.5", ".5", "1e3"}) {
    EXPECT_THAT(MicroError(absl::StrCat(head, size, " 3.4\n")),
                HasSubstr(absl::StrCat("m.log:5: size \"", size, "\"; expected whole bytes")));
  }
  // Lines of a scheduler between them are not rows.
  EXPECT_THAT(ReadMicro(absl::StrCat(head, "2026-01-02 10:00:01 job 7 runs\n0: done\n8 3.4\n")).points,
              SizeIs(2));
}

TEST(MicroBenchmarks, LimitsWarningsOfBadRows) {
  const MicroRun run = ReadMicro(
      "# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)        Validation\n8  20.5   Fail\n");
  EXPECT_DOUBLE_EQ(run.points.at(0).gbytes_per_s, 0.0205);
  EXPECT_THAT(run.warnings, ElementsAre("m.log:3: its data was wrong (Fail), time kept"));
  std::string many = "# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)\n";
  for (int i = 0; i < 300; ++i) many += "1 0.00\n";
  const MicroRun cut = ReadMicro(many + "8 20.5\n");
  ASSERT_THAT(cut.warnings, SizeIs(201));
  EXPECT_EQ(cut.warnings.back(), "m.log: and 100 more like these");
}

TEST(MicroBenchmarks, ReadsPerftestWithADuration) {
  const MicroRun lat =
      ReadMicro(Perftest("Send Latency Test", " #bytes        #iterations       t_avg[usec]    tps average",
                         " 2             4331286           1.15           433110.83\n"));
  EXPECT_DOUBLE_EQ(lat.points.at(0).latency_us, 1.15);
  const MicroRun rate = ReadMicro(Perftest(
      "RDMA_Write BW Test",
      " #bytes     #iterations    BW min[Gb/sec]    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]",
      " 65536      664644         180.00            0.00               192.00               0.366211\n"));
  EXPECT_DOUBLE_EQ(rate.points.at(0).gbytes_per_s, 24);
}

PointRow Latency(uint64_t bytes, double us) {
  PointRow row{"RDMA_Write Latency Test", bytes, us, 0, false, "lat.log", 9};
  return row;
}

TEST(PointFit, LatencySetsTheLinkLatency) {
  const proto::Cluster given = calibrating::Preset("azure-ndv4");
  const PointFit fit = FitPoints(given, {Latency(2, 1.7), Latency(8, 1.8), Latency(64, 1.6)});
  EXPECT_DOUBLE_EQ(fit.cluster.topology().dimension(1).latency_ns(), 900);
  EXPECT_THAT(
      fit.fitted,
      ElementsAre(
          "topology.dimension[1].latency_ns: 500 -> 900, measured by RDMA_Write Latency Test (lat.log:9, 8 "
          "bytes, 1.8 us one way); assumed: between two nodes, over the two links of one switch, with the "
          "time of NICs and drivers"));
  EXPECT_THAT(FitPoints(given, {Latency(64, 1.6)}).kept,
              Contains(HasSubstr("needs a latency of at most 8 bytes")));
  EXPECT_THAT(FitPoints(given, {}).kept, IsEmpty());
}

TEST(PointFit, NamesLogsThatContradictEachOther) {
  const proto::Cluster given = calibrating::Preset("azure-ndv4");
  PointRow slow = Latency(8, 3.1), near = Latency(8, 1.9),
           low{"Send BW Test", 8 << 20, 0, 11, false, "a.log", 5},
           high{"Send BW Test", 8 << 20, 0, 23, false, "b.log", 5};
  slow.file = "other.log";
  near.file = "near.log";
  const PointFit fit = FitPoints(given, {Latency(8, 1.8), slow, near, low, high});
  EXPECT_THAT(fit.fitted, ElementsAre(HasSubstr("drivers; others are slower: other.log:9 3.1 us"),
                                      HasSubstr("25 GB/s; others are slower: a.log:5 11 GB/s")));
}

TEST(PointFit, RateSetsTheTransportRateShare) {
  const proto::Cluster given = calibrating::Preset("azure-ndv4");  // 25 GB/s
  PointRow row{"RDMA_Write BW Test", 8 << 20, 0, 23, false, "bw.log", 9};
  const PointFit fit = FitPoints(given, {row});
  const double efficiency = given.collectives().library().level(1).efficiency();
  EXPECT_NEAR(fit.cluster.collectives().library().level(1).transport().rate_share(), 23 / 25.0 / efficiency,
              1e-9);
  row.gbytes_per_s = 48;
  const PointFit fast = FitPoints(given, {row});
  EXPECT_THAT(fast.fitted, IsEmpty());
  EXPECT_THAT(fast.kept, Contains(HasSubstr("48 GB/s is more than the ")));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
