// Measured rows from logs of collective calls, and `calibrate` on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "replay/calibrate/call_logs.h"
#include "test/replay/run_binary.h"
#include "test/trace/call_log_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

using collective_logs::InspectorLine;
using ::testing::HasSubstr;

// Eight ranks on two hosts; all-gathers of 1 MiB a rank, in which rank r waits 10 (7 - r) us for the others.
std::string Folder(const std::string& name, const std::string& source = "kernel_gpu") {
  const std::string folder = absl::StrCat(::testing::TempDir(), "/call_rows_", name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (int r = 0; r < 8; ++r) {
    std::ofstream out(absl::StrCat(folder, "/h", r / 4, "-pid", r, ".log"));
    for (uint64_t k = 0; k < 5; ++k) {
      out << Print(InspectorLine{.rank = r,
                                 .ranks = 8,
                                 .host = absl::StrCat("h", r / 4),
                                 .pid = r,
                                 .call = "AllGather",
                                 .sequence = k,
                                 .micros = 200 + k + 10 * static_cast<uint64_t>(7 - r),
                                 .start_us = static_cast<int64_t>(1000 + 1000 * k) + 10 * r,
                                 .source = source});
      out << Print(InspectorLine{.rank = r,
                                 .ranks = 8,
                                 .host = absl::StrCat("h", r / 4),
                                 .pid = r,
                                 .sequence = 100 + k,
                                 .bytes = uint64_t{65536} << k,
                                 .micros = uint64_t{60} << k,
                                 .start_us = static_cast<int64_t>(1500 + 1000 * k),
                                 .source = source});
    }
  }
  return folder;
}

TEST(CallLogRows, HaveMedianTimeOfTheLastMember) {
  const auto run = ReadCallLogRows({Folder("rows")}, 2);
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_EQ(run->rows.size(), 6u);
  const MeasuredRow& gather = run->rows[5];
  EXPECT_EQ(gather.type, CollectiveType::kAllGather);
  EXPECT_EQ(gather.ranks, 8);
  EXPECT_EQ(gather.nodes, 2);
  EXPECT_EQ(gather.bytes, 8u << 20);  // the larger of input and output, as nccl-tests counts
  EXPECT_EQ(gather.time_us, 202);
  EXPECT_THAT(
      run->warnings[0],
      HasSubstr("10 calls timed by the device are used; not used: 0 timed by the host, 0 not logged by all"));
}

TEST(CallLogRows, ExcludeHostTimesAndIncompleteCalls) {
  const auto run = ReadCallLogRows({Folder("host", "collective_cpu")}, 1);
  EXPECT_THAT(std::string(run.status().message()),
              HasSubstr("0 calls timed by the device are used; not used: 10 timed by the host"));
  const std::string lost = Folder("lost");
  std::filesystem::remove(lost + "/h1-pid7.log");
  EXPECT_THAT(std::string(ReadCallLogRows({lost}, 1).status().message()),
              HasSubstr("10 not logged by all members"));
}

TEST(CallLogRows, AreFittedByCalibrate) {
  const std::string out = ::testing::TempDir() + "/call_rows.txtpb";
  const CommandResult r =
      RunCommand("calibrate " + Folder("fit") + " --cluster dgx-h100:gpus_per_node=4 -o " + out);
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("10 calls timed by the device"));
  EXPECT_THAT(r.out, HasSubstr("6 rows fitted"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
