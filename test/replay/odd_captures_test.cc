// Captures with missing parts, impossible values, or a format of their own: the reports of the replay and the
// doctor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/report.pb.h"
#include "test/folders.h"
#include "test/replay/run_binary.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class OddCaptures : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(Folder(""))) GTEST_SKIP() << "no " << Folder("");
  }
  static std::string Folder(const std::string& name) {
    return absl::StrCat(CHAKRA_SHARED_DATA, "/strangers/", name);
  }
  static proto::Report Replay(const std::string& input, const std::string& options = "") {
    const CommandResult r = RunCommand(absl::StrCat("replay ", Folder(input), " --format json ", options));
    proto::Report report;
    EXPECT_EQ(r.status, 0) << r.err;
    if (r.status == 0) {
      EXPECT_TRUE(ParseMessage(r.out, "report", &report).ok());
    }
    return report;
  }
  static std::string Doctor(const std::string& input) {
    const CommandResult r = RunCommand(absl::StrCat("doctor ", Folder(input)));
    EXPECT_EQ(r.status, 0) << r.err;
    return r.out;
  }
  static std::string Warnings(const proto::Report& report) {
    std::string all;
    for (const std::string& w : report.warning()) absl::StrAppend(&all, w, "\n");
    return all;
  }
  static std::string Repairs(const proto::Report& report) {
    std::string all;
    for (const proto::Repair& r : report.repair()) absl::StrAppend(&all, r.kind(), " x ", r.count(), "\n");
    return all;
  }
  static double Ms(int64_t ps) { return static_cast<double>(ps) / 1e9; }
  // The sum of all collectives of a kind, on any group.
  static proto::CollectiveReport Sum(const proto::Report& report, const std::string& kind) {
    proto::CollectiveReport sum;
    for (const proto::CollectiveReport& c : report.collective()) {
      if (c.kind() != kind) continue;
      sum.set_count(sum.count() + c.count());
      sum.set_bytes(sum.bytes() + c.bytes());
      sum.set_time_ps(sum.time_ps() + c.time_ps());
    }
    return sum;
  }
};

TEST_F(OddCaptures, WarnsOfLaunchesWithoutKernels) {
  const proto::Report report = Replay("launches_without_kernels/trace.json");
  EXPECT_DOUBLE_EQ(Ms(report.rank(0).compute_busy_ps()), 16);
  EXPECT_THAT(Warnings(report), HasSubstr("8 of 10 launches of kernels have no operation of the device"));
  EXPECT_THAT(report.bound(), StartsWith("not known what bounds the run"));
  EXPECT_THAT(Doctor("launches_without_kernels"), HasSubstr("8 of 10 launches of kernels"));
}

TEST_F(OddCaptures, WarnsOfGraphLaunchesWithoutKernels) {
  const proto::Report report = Replay("graph_launch_without_kernels/trace.json");
  EXPECT_THAT(Warnings(report), HasSubstr("4 of 4 launches of graphs have no operation of the device"));
  EXPECT_THAT(report.bound(), StartsWith("not known what bounds the run"));
  EXPECT_THAT(Doctor("graph_launch_without_kernels"), HasSubstr("4 of 4 launches of graphs"));
}

TEST_F(OddCaptures, ReadsOperationsOfAnNpu) {
  const proto::Report report =
      Replay("npu_trace_view/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json");
  EXPECT_DOUBLE_EQ(Ms(report.rank(0).compute_busy_ps()), 18);
  EXPECT_DOUBLE_EQ(Ms(report.rank(0).comm_busy_ps()), 6);
  EXPECT_THAT(report.bound(), StartsWith("bound by computation"));
  EXPECT_THAT(Doctor("npu_trace_view"), Not(HasSubstr("only the host")));
}

TEST_F(OddCaptures, CutsKernelAtNextKernelOfStream) {
  const proto::Report report = Replay("duration_past_next_kernel/trace.json");
  EXPECT_NEAR(Ms(report.makespan_ps()), 0.985, 0.002);
  EXPECT_THAT(Repairs(report), HasSubstr("device_duration_cut x 2"));
}

TEST_F(OddCaptures, DropsKernelsWithoutTime) {
  const proto::Report report = Replay("kernel_at_time_zero/trace.json");
  EXPECT_NEAR(Ms(report.makespan_ps()), 2.9, 0.001);
  EXPECT_THAT(Repairs(report), HasSubstr("kineto_time_lost x 1"));
}

TEST_F(OddCaptures, JoinsPartsOfCoalescedCall) {
  const proto::Report report = Replay("coalesced_kineto");
  ASSERT_EQ(report.collective_size(), 1);
  EXPECT_EQ(report.collective(0).kind(), "all_gather");
  EXPECT_EQ(report.collective(0).count(), 3);
  EXPECT_EQ(report.collective(0).bytes(), 3 * 32000000);
  EXPECT_DOUBLE_EQ(Ms(report.collective(0).time_ps()), 3);
  EXPECT_DOUBLE_EQ(report.collective(0).algbw_gbytes_per_s(), 32);
  EXPECT_EQ(report.kept_comm(), 0);
  const proto::Report elsewhere = Replay("coalesced_kineto", "--cluster dgx-h100");
  EXPECT_LT(Ms(Sum(elsewhere, "all_gather").time_ps()), 3 * 0.3);
  EXPECT_THAT(Doctor("coalesced_kineto"), AllOf(HasSubstr("6 collectives"), Not(HasSubstr("take no time"))));
}

TEST_F(OddCaptures, JoinsPartsOfFlightRecorderCall) {
  const proto::Report report = Replay("uneven_all_gather_flight_recorder");
  EXPECT_THAT(Repairs(report), Not(HasSubstr("calls_not_finished")));
  EXPECT_EQ(Sum(report, "all_gather").count(), 3);
  EXPECT_EQ(Sum(report, "all_gather").bytes(), 3 * 16000000);
  EXPECT_THAT(Doctor("uneven_all_gather_flight_recorder"), Not(HasSubstr("sizes of")));
}

TEST_F(OddCaptures, ReadsMangledCommunicationNames) {
  const proto::Report report = Replay("mangled_communication_bf16/rank0.json");
  EXPECT_DOUBLE_EQ(Ms(report.rank(0).compute_busy_ps()), 12);
  EXPECT_DOUBLE_EQ(Ms(report.rank(0).comm_busy_ps()), 3);
  EXPECT_EQ(Sum(report, "all_reduce").count(), 3);
}

TEST_F(OddCaptures, ReadsLowerCaseCommunicationNames) {
  EXPECT_GT(Sum(Replay("nccl_name_lower_case"), "all_reduce").count(), 0);
}

TEST_F(OddCaptures, CopiesCountAsMemory) {
  const proto::Report report = Replay("copies_counted_as_compute/trace.json");
  EXPECT_DOUBLE_EQ(Ms(report.rank(0).compute_busy_ps()), 3);
  EXPECT_DOUBLE_EQ(Ms(report.rank(0).memory_busy_ps()), 18);
  EXPECT_THAT(report.bound(), StartsWith("bound by copies"));
  // Faster kernels do not change copies.
  const proto::Report device = Replay("copies_counted_as_compute/trace.json", "--scale device=0.5");
  EXPECT_DOUBLE_EQ(Ms(device.rank(0).compute_busy_ps()), 1.5);
  EXPECT_DOUBLE_EQ(Ms(device.rank(0).memory_busy_ps()), 18);
  const proto::Report memory = Replay("copies_counted_as_compute/trace.json", "--scale memory=0.5");
  EXPECT_DOUBLE_EQ(Ms(memory.rank(0).compute_busy_ps()), 3);
  EXPECT_DOUBLE_EQ(Ms(memory.rank(0).memory_busy_ps()), 9);
}

TEST_F(OddCaptures, StepRangeSelectsAnnotations) {
  for (const char* options : {"--step-range 'execute_context*'", ""}) {
    const proto::Report report = Replay("step_range_without_effect", options);
    int steps = 0;
    for (const proto::StepReport& s : report.step()) {
      if (s.step() == "window") continue;
      ++steps;
      EXPECT_DOUBLE_EQ(Ms(s.measured_ps()), 9) << s.step();
    }
    EXPECT_EQ(steps, 4) << options;
  }
  const CommandResult r =
      RunCommand(absl::StrCat("replay ", Folder("step_range_without_effect"), " --step-range 'no such*'"));
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.err, HasSubstr("no annotation or operator is named \"no such*\""));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
