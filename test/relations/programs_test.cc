// Programs from files: the rate of a channel, and calls for which a program is not made.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "replay/report/run_replay.h"
#include "replay/run/collective_table.h"
#include "replay/run/machine.h"
#include "replay/run/traces.h"
#include "test/folders.h"

namespace chakra::CHAKRA_FILE {
namespace {

std::string Given(const std::string& path) { return std::string(CHAKRA_SHARED_DATA) + "/strangers/" + path; }

absl::StatusOr<TableRow> Price(TableOptions options, uint64_t bytes) {
  std::vector<std::string> notes;
  const absl::StatusOr<proto::Cluster> cluster = DescribeMachine(options, &notes);
  if (!cluster.ok()) return cluster.status();
  absl::StatusOr<CollectiveTable> table = CollectiveTable::Make(*cluster, options);
  if (!table.ok()) return table.status();
  return table->Price(bytes);
}

TableOptions AllGather(const std::string& cluster, const std::string& program) {
  TableOptions options;
  options.cluster = cluster;
  options.type = CollectiveType::kAllGather;
  options.ranks = 8;
  options.programs = {program};
  return options;
}

// Published in-place times of rccl-tests with such programs on 8 MI300X.
TEST(Programs, ChannelTimesMatchMi300x) {
  const std::string ring = Given("msccl_ring_one_channel/ring.xml"),
                    pairs = Given("msccl_all_pairs/pairs.xml");
  if (!std::filesystem::exists(ring)) GTEST_SKIP() << "no " << ring;
  for (const auto& [program, us] : {std::pair(ring, 5400.0), std::pair(pairs, 805.0)}) {
    const absl::StatusOr<TableRow> row = Price(AllGather("mi300x", program), 64 << 20);
    ASSERT_TRUE(row.ok()) << row.status();
    EXPECT_NEAR(row->time_us, us, 0.1 * us) << program;
  }
}

constexpr char kPair[] = R"(<algo name="pair" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2"
 coll="allgather" inplace="0" outofplace="1" minBytes="1024" maxBytes="1048576">
<gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
<tb id="0" send="1" recv="1" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
<tb id="1" send="-1" recv="-1" chan="0">
<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
</gpu>
<gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0">
<tb id="0" send="0" recv="0" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
<tb id="1" send="-1" recv="-1" chan="0">
<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb>
</gpu>
</algo>)";

class OwnProgram : public testing::Test {
 protected:
  void SetUp() override { std::ofstream(path_) << kPair; }
  std::string path_ = testing::TempDir() + "/relations_pair.xml";
};

TEST_F(OwnProgram, RefusesOtherRanksAndCollectives) {
  TableOptions options = AllGather("dgx-h100", path_);
  options.ranks = 2;
  ASSERT_TRUE(Price(options, 4096).ok()) << Price(options, 4096).status();
  EXPECT_EQ(Price(options, 4096)->algorithm, "pair");
  options.ranks = 4;
  EXPECT_EQ(Price(options, 4096).status().message(), path_ +
                                                         ": algorithm \"pair\" is for all_gather on 2 ranks, "
                                                         "1024 to 1048576 bytes; expected "
                                                         "all_gather on 4 ranks, as the call is");
  options.ranks = 2;
  options.type = CollectiveType::kAllReduce;
  EXPECT_FALSE(Price(options, 4096).ok());
}

TEST_F(OwnProgram, NotesCallsOfOtherSizes) {
  TableOptions options = AllGather("dgx-h100", path_);
  options.ranks = 2;
  const absl::StatusOr<TableRow> row = Price(options, 64 << 20);
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_NE(row->algorithm, "pair");
  EXPECT_EQ(row->passed_over,
            path_ + ": algorithm \"pair\" is for all_gather on 2 ranks, 1024 to 1048576 bytes");
}

TEST(Programs, EmptyCallsTakeNoTime) {
  TableOptions options;
  options.cluster = "dgx-h100";
  options.ranks = 8;
  const absl::StatusOr<TableRow> row = Price(options, 0);
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->time_us, 0);
  options.type = CollectiveType::kBarrier;
  EXPECT_GT(Price(options, 0)->time_us, 0);
}

TEST(Programs, EmptyCallsOfTracesTakeNoTime) {
  const std::string traces = Given("collective_of_no_bytes");
  if (!std::filesystem::exists(traces)) GTEST_SKIP() << "no " << traces;
  RunOptions options;
  TraceOptions from;
  from.inputs = {traces};
  const absl::StatusOr<LoadedTraces> loaded = LoadTraces(from);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const absl::StatusOr<proto::Report> report = RunReplay(*loaded, options, {});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->makespan_ps(), 100000000);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
