// The part of the communication in captures that computation hides, and the waits of messages.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/report.pb.h"
#include "test/replay/run_binary.h"
#include "test/trace/pytorch/capture_builder.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

// The report of a capture of one rank. Writes the capture to its own file.
proto::Report ReplayOf(const std::string& name, const pytorch::KinetoBuilder& capture) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name, ".json");
  std::ofstream(path) << capture.Json();
  const CommandResult r = RunCommand(absl::StrCat("replay ", path, " --format json"));
  proto::Report report;
  EXPECT_EQ(r.status, 0) << r.err;
  if (r.status == 0) {
    EXPECT_TRUE(ParseMessage(r.out, "report", &report).ok());
  }
  std::filesystem::remove(path);
  return report;
}

TEST(Overlap, MeasuresHiddenTimeByKindAndLane) {
  pytorch::KinetoBuilder k;
  k.Rank(0, 2);
  const auto reduce = [&](int64_t at, int64_t begin, int64_t length) {
    k.Op(1, "record_param_comms", at, 1000, pytorch::CommArgs("allreduce", 1000, 1000, "0", "[0, 1]", 2))
        .Launch(1, at + 100, 100, 20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", begin, length);
  };
  k.Launch(1, 0, 100, 7, "gemm", 10000, 40000);
  reduce(2000, 20000, 20000);  // all hidden
  reduce(4000, 45000, 20000);  // a quarter hidden
  const proto::Report report = ReplayOf("overlap", k);
  ASSERT_EQ(report.overlap_size(), 1);
  EXPECT_EQ(report.overlap(0).kind(), "all_reduce");
  EXPECT_EQ(report.overlap(0).lane(), "stream 20");
  EXPECT_EQ(report.overlap(0).count(), 2u);
  EXPECT_EQ(report.overlap(0).time_ps(), 40000000);
  EXPECT_EQ(report.overlap(0).hidden_ps(), 25000000);
  EXPECT_DOUBLE_EQ(report.overlap(0).hidden_share(), 0.625);
  EXPECT_EQ(report.overlap(0).waited_ps(), 0);
}

TEST(Overlap, CountsWaitsOfReceives) {
  pytorch::KinetoBuilder k;
  k.Rank(1, 2);
  for (int i = 0; i < 3; ++i) {
    const int64_t at = 100000 * i;
    k.Op(1, "record_param_comms", at, 1000,
         pytorch::CommArgs("recv", 1000, 1000, "0", "[0, 1]", 2, "Float", ",\"Src Rank\":0"))
        .Launch(1, at + 100, 100, 20, "ncclDevKernel_SendRecv(x)", at + 10000, 10000 * (i + 1));
  }
  const proto::Report report = ReplayOf("waits", k);
  ASSERT_EQ(report.overlap_size(), 1);
  EXPECT_EQ(report.overlap(0).kind(), "recv");
  EXPECT_EQ(report.overlap(0).time_ps(), 60000000);
  EXPECT_EQ(report.overlap(0).waited_ps(), 30000000) << "the shortest waited for nobody";
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
