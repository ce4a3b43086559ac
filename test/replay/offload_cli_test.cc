// Steps with activations or the optimizer in the host's memory, against closed forms and measurements.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

class OffloadCli : public Bench {
 protected:
  proto::Report Of(const std::string& training, const std::string& parallel = "dp=2,zero=1",
                   const std::string& more = "") {
    return ReportOf(absl::StrCat("--model llama3-8b:layers=8 --parallel ", parallel,
                                 " --training seq=4096,global_batch=4,launch=0us", training,
                                 " --cluster dgx-h100", more));
  }
  double Ms(const std::string& training, double gbytes_per_s) {
    return static_cast<double>(
               Of(training, "dp=2,zero=1", absl::StrCat(" --set device.host_gbytes_per_s=", gbytes_per_s))
                   .makespan_ps()) *
           1e-9;
  }
};

// A link that is fast enough slows nothing. On a slow link, copies follow one another without a gap, to the
// host and back.
TEST_F(OffloadCli, ActivationsTakeTimeOfTheLink) {
  const proto::Report without = Of("");
  const std::string offload = ",offload=activations,offload_layers=5";
  EXPECT_NEAR(Ms(offload, 1e9), static_cast<double>(without.makespan_ps()) * 1e-9, 1e-3);
  const proto::StageMemory memory = Of(offload).training().memory(0);
  const double bytes = static_cast<double>(memory.host_bytes());  // of one of two micro-batches
  EXPECT_GT(bytes, 1e9);
  const double slower = Ms(offload, 0.5) - Ms(offload, 1);
  EXPECT_NEAR(slower, 2 * 2 * bytes / 1e6 * (1 / 0.5 - 1), 1e-3);
  EXPECT_GT(Ms(offload, 25), Ms(offload, 50));
}

TEST_F(OffloadCli, OptimizerCopiesAndUpdateAddUp) {
  const std::string offload = ",offload=optimizer,host_updates_per_s=1e9";
  const double weights = static_cast<double>(Of(offload).training().memory(0).host_bytes()) / 16;
  EXPECT_NEAR(Ms(offload, 10) - Ms(offload, 20), 8 * weights / 1e6 * (1. / 10 - 1. / 20), 1e-3);
  EXPECT_NEAR(Ms(",offload=optimizer,host_updates_per_s=5e8", 10) - Ms(offload, 10), weights / 1e6, 1e-3);
  // Copies that overlap the update: only the first copy to the host and the last copy back remain.
  const std::string beside = offload + ",overlap_offload=yes";
  EXPECT_NEAR(Ms(offload, 10) - Ms(beside, 10), 8 * weights / 1e7 * (1 - 1. / 10), 1e-2);
}

// NVIDIA's run on 16 H100 (Megatron-Bridge, skills/nemo-mbridge-perf-cpu-offloading/card.yaml, Qwen3-30B-A3B,
// TP 2, PP 2, EP 4): additional ms of offloading. The host's rate is fitted to the last two rows; the first
// three rows are independent.
TEST_F(OffloadCli, OptimizerMatchesMeasurements) {
  const auto ms = [&](const std::string& training) {
    return static_cast<double>(
               ReportOf(
                   absl::StrCat("--model qwen3-30b-a3b --parallel tp=2,pp=2,dp=4,ep=4,zero=1 --training ",
                                "seq=4096,global_batch=8", training, " --cluster dgx-h100"))
                   .makespan_ps()) *
           1e-9;
  };
  const double without = ms("");
  const struct {
    const char* training;
    double ms, within;
  } kMeasured[] = {
      {",offload=optimizer,offload_share=0.25", 1871 - 996, 0.12},
      {",offload=optimizer,offload_share=0.5", 2484 - 996, 0.07},
      {",offload=optimizer,offload_share=0.75", 3187 - 996, 0.09},
      {",offload=optimizer", 4189 - 996, 0.02},
      {",offload=optimizer,overlap_offload=yes", 3877 - 996, 0.02},
  };
  for (const auto& m : kMeasured) EXPECT_NEAR((ms(m.training) - without) / m.ms, 1, m.within) << m.training;
}

TEST_F(OffloadCli, RefusesDeviceWithoutHostLink) {
  const Outcome r =
      Run("replay --model llama3-8b:layers=4 --training seq=512,offload=activations --cluster dgx-h100 --set "
          "device.host_gbytes_per_s=0");
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.err, HasSubstr("device.host_gbytes_per_s"));
  EXPECT_THAT(r.err, HasSubstr("training.offload"));
}

// A module of XLA that copies to the host's memory, S(5): the link sets the time, also for the traces made
// from the module.
TEST_F(OffloadCli, HloCopiesTakeTimeOfTheLink) {
  const std::string folder = ::testing::TempDir() + "/offload_cli_hlo";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/m.hlo") << "HloModule m, is_scheduled=true, num_partitions=1\n"
                                      "ENTRY e {\n"
                                      "  p = f32[16777216]{0} parameter(0)\n"
                                      "  ROOT c = f32[16777216]{0:S(5)} copy(p)\n"
                                      "}\n";
  ASSERT_EQ(Run(absl::StrCat("convert ", folder, "/m.hlo -o ", folder, "/et")).status, 0);
  for (const char* trace : {"/m.hlo", "/et"}) {
    for (const double rate : {25.0, 50.0}) {
      const auto report =
          ReportOf(absl::StrCat(folder, trace, " --cluster dgx-h100 --set device.host_gbytes_per_s=", rate));
      EXPECT_NEAR(static_cast<double>(report.makespan_ps()), 64.0 * 1048576 / rate * 1e3, 1e3) << trace;
    }
  }
}

// In a program for LogGOPSim, copies are calculations with the time of the link to the host.
TEST_F(OffloadCli, GoalProgramsHaveTimeOfTheLink) {
  const std::string folder = ::testing::TempDir() + "/offload_cli_goal";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string step = folder + "/step.txtpb";
  std::ofstream(step) << "model { preset: \"llama3-8b\" layers: 2 }\n"
                         "training { seq: 1024 offload: \"activations\" launch_us: 0 }\n";
  ASSERT_EQ(Run("convert " + step + " -o " + folder + "/step.goal --to goal --cluster dgx-h100").status, 0);
  std::ifstream in(folder + "/step.goal");
  const std::string program{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto bytes =
      static_cast<double>(ReportOf(step + " --cluster dgx-h100").training().memory(0).host_bytes());
  EXPECT_THAT(program, HasSubstr(absl::StrCat("calc ", static_cast<int64_t>(bytes / 52 + 0.5)))) << program;
}

// One rank stands for its symmetric ranks. Files replay like the step in memory.
TEST_F(OffloadCli, FilesAndSymmetricRanksReplayEqually) {
  const std::string step =
      "--model llama3-8b:layers=4 --parallel tp=2,dp=4,zero=1 --training "
      "seq=512,global_batch=8,offload=activations+optimizer";
  const std::string folder = ::testing::TempDir() + "/offload_cli_files";
  std::filesystem::remove_all(folder);
  ASSERT_EQ(Run("generate " + step + " -o " + folder).status, 0);
  const proto::Report files = ReportOf(folder + " --cluster dgx-h100");
  const proto::Report memory = ReportOf(step + " --cluster dgx-h100");
  EXPECT_EQ(files.makespan_ps(), memory.makespan_ps());
  EXPECT_EQ(files.training().SerializeAsString(), memory.training().SerializeAsString());
  EXPECT_EQ(ReportOf(step + " --cluster dgx-h100 --no-fast-path").makespan_ps(), memory.makespan_ps());
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
