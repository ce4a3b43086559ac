// A capture on the command line: the times that a replay takes from the recording by default, and its report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "proto/report.pb.h"
#include "test/folders.h"
#include "test/replay/run_binary.h"
#include "test/replay/trace_builder.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

void Say(et::GlobalMetadata* m, const char* name, int64_t value) {
  et::AttributeProto* a = m->add_attr();
  a->set_name(name);
  a->set_int64_val(value);
}

void At(et::Node* node, uint64_t start_micros) { node->set_start_time_micros(start_micros); }

// Two ranks: a host operation launches a copy, which begins 2 us later; an all-reduce follows the copy. Rank
// 1 arrives 3 us later; the transfer took 5 us.
TraceBuilder Capture() {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    const uint64_t late = r == 0 ? 0 : 3;
    et::GlobalMetadata* m = &b.Metadata(r);
    et::AttributeProto* capture = m->add_attr();
    capture->set_name("capture");
    capture->set_string_val("pytorch");
    Say(m, "rank", r);
    Say(m, "window_end_ns", 27000);
    et::Node& host = b.Comp(r, 10 + late);
    TraceBuilder::Int(&host, "is_cpu_op", 1);
    TraceBuilder::Int(&host, "tid", 1);
    et::Node& copy = b.Comp(r, 7, {0});
    At(&copy, 12 + late);
    TraceBuilder::Delays(&copy, {2000});
    TraceBuilder::Int(&copy, "tensor_size", 1 << 30);  // a roofline would take ages
    TraceBuilder::Int(&copy, "stream", 7);
    et::Node& reduce = b.Coll(r, CollectiveType::kAllReduce, 1 << 20, {1});
    At(&reduce, 19 + late);
    reduce.set_duration_micros(8 - late);
    TraceBuilder::Int(&reduce, "transfer_ns", 5000);
    TraceBuilder::Int(&reduce, "stream", 7);
    auto list = [m](const char* name) {
      et::AttributeProto* a = m->add_attr();
      a->set_name(name);
      return a;
    };
    list("step_names")->mutable_string_list()->add_values("ProfilerStep#8");
    list("step_first_nodes")->mutable_uint64_list()->add_values(0);
    list("step_last_nodes")->mutable_uint64_list()->add_values(1);
  }
  return b;
}

class CaptureCli : public testing::Test {
 protected:
  CaptureCli() {
    std::string pattern = (fs::temp_directory_path() / "capture_cli_test.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    inputs_ = (folder_ / "run").string();
  }
  ~CaptureCli() override { fs::remove_all(folder_); }

  void Write(const TraceBuilder& b) {
    fs::create_directories(folder_ / "run");
    for (size_t r = 0; r < 2; ++r) {
      ASSERT_TRUE(b.Write(r, (folder_ / "run" / ("w." + std::to_string(r) + ".et")).string()).ok());
    }
  }
  int Run(const std::string& arguments) {
    CommandResult result = RunCommand(absl::StrCat("replay ", inputs_, " ", arguments));
    out_ = std::move(result.out);
    err_ = std::move(result.err);
    return result.status;
  }
  proto::Report Report(const std::string& arguments) {
    proto::Report report;
    EXPECT_EQ(Run(arguments + " --format json"), 0) << err_;
    EXPECT_TRUE(ParseMessage(out_, "report", &report).ok()) << out_;
    return report;
  }

  fs::path folder_;
  std::string inputs_, out_, err_;
};

TEST_F(CaptureCli, ReplaysMeasuredTimesByDefault) {
  Write(Capture());
  const proto::Report r = Report("");
  EXPECT_EQ(r.comm(), "recorded");
  EXPECT_EQ(r.compute(), "recorded");
  EXPECT_EQ(r.cluster(), "");
  EXPECT_EQ(r.fabric(), "");
  ASSERT_EQ(r.warning_size(), 1);
  EXPECT_THAT(r.warning(0), HasSubstr("7.4 % of the makespan is fixed time"));  // 2 of 27 us
  EXPECT_EQ(r.unanswered_size(), 0);
  EXPECT_EQ(r.makespan_ps(), 27000000);
  ASSERT_EQ(r.step_size(), 4);
  for (const proto::StepReport& s : r.step()) {
    EXPECT_EQ(s.measured_ps(), s.replayed_ps()) << s.ShortDebugString();
    EXPECT_EQ(s.kernel_start_error_ps(), 0) << s.ShortDebugString();
  }
  EXPECT_EQ(r.step(0).step(), "window");
  EXPECT_EQ(r.step(0).kernels(), 2u);
  EXPECT_EQ(r.step(3).step(), "ProfilerStep#8");
  EXPECT_EQ(r.step(3).rank(), 1);
  EXPECT_EQ(r.step(3).measured_ps(), 22000000);
  ASSERT_EQ(Run(""), 0);
  EXPECT_THAT(out_, HasSubstr("replay   comm recorded, lanes recorded, compute recorded"));
  EXPECT_THAT(out_, HasSubstr("Replay against the capture"));
  EXPECT_THAT(out_, Not(HasSubstr("is assumed")));
}

TEST_F(CaptureCli, ClusterSimulatesCallsAndShowsRecordedTimes) {
  Write(Capture());
  for (const char* arguments : {"--cluster dgx-a100", "--comm simulated"}) {
    const proto::Report r = Report(arguments);
    EXPECT_EQ(r.comm(), "simulated");
    EXPECT_EQ(r.compute(), "recorded");
    EXPECT_EQ(r.fabric(), "analytical");
    ASSERT_EQ(r.collective_size(), 1);
    EXPECT_EQ(r.collective(0).recorded_ps(), 5000000);
    EXPECT_EQ(r.collective(0).recorded_count(), 1u);
    EXPECT_DOUBLE_EQ(r.collective(0).simulated_to_recorded(),
                     static_cast<double>(r.collective(0).time_ps()) / 5000000);
    EXPECT_EQ(r.step_size(), 4);
  }
  ASSERT_EQ(Run("--comm simulated"), 0);
  EXPECT_THAT(out_, HasSubstr("dgx-h100 is assumed"));
}

TEST_F(CaptureCli, KeepsRecordedCommunicationOnANamedCluster) {
  Write(Capture());
  const proto::Report r = Report("--cluster dgx-a100 --comm recorded --compute roofline,recorded");
  EXPECT_EQ(r.comm(), "recorded");
  EXPECT_EQ(r.cluster(), "dgx-a100");
  EXPECT_EQ(r.collective(0).time_ps(), 5000000);
  EXPECT_EQ(r.collective(0).recorded_count(), 0u);
  EXPECT_EQ(r.time_source(2).nodes(), 2u);  // the copies
}

TEST_F(CaptureCli, WarnsThatAClusterIsAssumed) {
  Write(Capture());
  const proto::Report r = Report("--compute roofline,recorded");
  EXPECT_EQ(r.comm(), "recorded");
  EXPECT_EQ(r.cluster(), "dgx-h100");
  ASSERT_EQ(r.warning_size(), 1);
  EXPECT_THAT(r.warning(0), HasSubstr("dgx-h100 is assumed"));
}

TEST_F(CaptureCli, WarnsWhenNoFlowUsesTheFabric) {
  Write(Capture());
  const proto::Report r = Report("--fabric analytical-fifo");
  ASSERT_EQ(r.warning_size(), 2);  // and fixed time
  EXPECT_THAT(r.warning(0), HasSubstr("--fabric has no effect"));
}

// The capture, with `device` as the name of its device.
TraceBuilder CaptureOf(const char* device) {
  TraceBuilder b = Capture();
  for (int r = 0; r < 2; ++r) {
    et::AttributeProto* a = b.Metadata(r).add_attr();
    a->set_name("device");
    a->set_string_val(device);
    b.Nodes(r)[1].set_name("Memcpy DtoD (Device -> Device)");
  }
  return b;
}

TEST_F(CaptureCli, RepricesTimesForAnotherDevice) {
  Write(CaptureOf("NVIDIA H100 80GB HBM3"));
  const proto::Report r = Report("--cluster dgx-a100");
  EXPECT_EQ(r.compute(), "repriced,recorded");
  EXPECT_EQ(r.repriced_from(), "NVIDIA H100 80GB HBM3");
  ASSERT_EQ(r.repriced_size(), 1);
  EXPECT_EQ(r.repriced(0).family(), "copy");
  EXPECT_EQ(r.repriced(0).nodes(), 2u);
  EXPECT_EQ(r.repriced(0).recorded_ps(), 14000000);
  EXPECT_NE(r.repriced(0).time_ps(), 14000000);
  EXPECT_LT(r.makespan_low_ps(), r.makespan_ps());
  EXPECT_GT(r.makespan_high_ps(), r.makespan_ps());
  const proto::Report kept = Report("--cluster dgx-a100 --compute recorded");
  EXPECT_EQ(kept.repriced_size(), 0);
  EXPECT_EQ(kept.makespan_high_ps(), 0);
  EXPECT_EQ(kept.time_source_size(), 5);
}

TEST_F(CaptureCli, KeepsTimesOnSameOrUnknownDevice) {
  Write(CaptureOf("NVIDIA H100 80GB HBM3"));
  const proto::Report own = Report("--cluster dgx-h100");
  EXPECT_EQ(own.compute(), "recorded");
  EXPECT_EQ(own.repriced_size(), 0);
  Write(CaptureOf("Card of 1999"));
  const proto::Report unknown = Report("--cluster dgx-h100");
  EXPECT_EQ(unknown.compute(), "recorded");
  ASSERT_GT(unknown.warning_size(), 0);
  bool warned = false;
  for (const std::string& w : unknown.warning())
    warned |= w.find("\"Card of 1999\", is not known; recorded times") != std::string::npos;
  EXPECT_TRUE(warned);
}

TEST_F(CaptureCli, ZeroDurationsCountAsMeasured) {
  TraceBuilder b = Capture();
  for (int r = 0; r < 2; ++r) b.Comp(r, 0, {0});
  Write(b);
  const proto::Report r = Report("");
  EXPECT_EQ(r.unanswered_size(), 0);
  EXPECT_EQ(r.time_source(3).nodes(), 6u);
}

TEST_F(CaptureCli, CaptureWithoutTimesHasNoSteps) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    *b.Metadata(r).add_attr() = Capture().Metadata(r).attr(0);
    Say(&b.Metadata(r), "rank", r);
    Say(&b.Metadata(r), "window_end_ns", 0);
    b.Comp(r, 0);
  }
  Write(b);
  const proto::Report r = Report("");
  EXPECT_EQ(r.compute(), "table,model,roofline,recorded");
  EXPECT_EQ(r.step_size(), 0);
  ASSERT_EQ(r.unanswered_size(), 1);  // a missing time is not a time of 0
  EXPECT_EQ(r.unanswered(0).nodes(), 2u);
}

TEST_F(CaptureCli, MissingCommunicationTimesAreSimulatedOrRefused) {
  TraceBuilder b = Capture();
  for (int r = 0; r < 2; ++r) {
    et::Node& reduce = b.Nodes(r)[2];
    reduce.set_duration_micros(0);
    for (int i = reduce.attr_size() - 1; i >= 0; --i) {
      if (reduce.attr(i).name() == "transfer_ns") reduce.mutable_attr()->DeleteSubrange(i, 1);
    }
  }
  Write(b);
  const proto::Report r = Report("");
  EXPECT_EQ(r.comm(), "simulated");
  EXPECT_THAT(r.warning(0), HasSubstr("the capture has no recorded durations of communication"));
  EXPECT_EQ(Run("--comm recorded"), 1);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(
      err_,
      HasSubstr("chakra-replay: --comm recorded: the traces have no recorded durations of communication"));
}

TEST_F(CaptureCli, RefusesAMalformedCapture) {
  TraceBuilder b = Capture();
  b.Metadata(1).mutable_attr()->DeleteSubrange(2, 1);
  Write(b);
  EXPECT_EQ(Run(""), 1);
  EXPECT_THAT(err_, HasSubstr("w.1.et: metadata attribute window_end_ns: missing"));
}

// Captures whose ProfilerStep times are known, in microseconds, by rank and step.
TEST_F(CaptureCli, RealCapturesReplayTheirMeasuredTimes) {
  const std::string data = CHAKRA_SHARED_DATA;
  if (!fs::exists(data + "/param/dlrm")) GTEST_SKIP() << "no captures at " << data;
  const std::vector<std::pair<std::string, std::vector<int64_t>>> captures = {
      {"/param/dlrm", {14455, 19901, 13017, 19313, 17979, 17797, 13091, 12509}},
      {"/hta/a100_resnet50_ddp_rank-0_of_2.json.gz", {222442, 219727, 224936}},
      {"/hta/v100_recommender_rank-1_of_2.json.gz", {100298, 122149, 166403, 81971, 107230, 166350}},
      {"/hta/v100_ns_resolution_rank-0.json.gz", {35116, 72077, 95697, 95551, 95699}},
  };
  for (const auto& [name, micros] : captures) {
    inputs_ = data + name;
    const proto::Report r = Report("");
    EXPECT_EQ(r.comm(), "recorded") << name;
    std::vector<int64_t> measured;
    for (const proto::StepReport& s : r.step()) {
      if (s.step() != "window") measured.push_back((s.measured_ps() + 500000) / 1000000);
      const auto whole = static_cast<double>(s.measured_ps());
      EXPECT_NEAR(static_cast<double>(s.replayed_ps()), whole, 0.01 * whole)
          << name << ", " << s.ShortDebugString();
      EXPECT_LT(static_cast<double>(s.kernel_start_error_ps()), 0.02 * whole)
          << name << ", " << s.ShortDebugString();
      EXPECT_GT(s.kernels(), 0u) << name;
    }
    EXPECT_EQ(measured, micros) << name;
  }
}

TEST_F(CaptureCli, OtherTracesAreSimulatedByDefault) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) b.Coll(r, CollectiveType::kAllReduce, 1 << 20).set_duration_micros(9);
  Write(b);
  EXPECT_EQ(Report("").comm(), "simulated");
  EXPECT_EQ(Report("").compute(), "table,model,roofline,recorded");
  const proto::Report r = Report("--comm recorded");
  EXPECT_EQ(r.comm(), "recorded");
  EXPECT_EQ(r.makespan_ps(), 9000000);
  EXPECT_EQ(r.step_size(), 0);
  EXPECT_EQ(Run("--comm measured"), 2);
  EXPECT_THAT(err_, HasSubstr("--comm"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
