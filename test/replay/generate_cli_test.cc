// `chakra-replay generate` and the replay of workloads, as a user runs them.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

class GenerateCli : public Bench {
 protected:
  static std::string Makespan(const std::string& report) {
    const size_t at = report.find("Makespan");
    return at == std::string::npos ? "" : report.substr(at, report.find('\n', at) - at);
  }
  std::string Folder(const std::string& name) const {
    const auto path = std::filesystem::path(::testing::TempDir()) / ("generate_cli_" + name);
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    return path.string();
  }
};

constexpr char kStep[] =
    "--model llama3-8b:layers=4 --parallel tp=2,pp=2,dp=2,zero=1 --training seq=1024,global_batch=8";

TEST_F(GenerateCli, FilesMemoryAndWorkloadFileReplayEqually) {
  const std::string folder = Folder("alike");
  const Outcome made = Run(std::string("generate ") + kStep + " -o " + folder + "/step");
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("ranks            8 (tp 2, cp 1, dp 2, pp 2; ep 1, etp 1; zero 1)"));
  EXPECT_THAT(made.out, HasSubstr("Memory of a rank at its peak, GiB"));
  const Outcome files = Run("replay " + folder + "/step --cluster dgx-h100 --strict");
  ASSERT_EQ(files.status, 0) << files.err;
  const Outcome memory = Run(std::string("replay ") + kStep + " --cluster dgx-h100 --strict");
  ASSERT_EQ(memory.status, 0) << memory.err;
  std::ofstream(folder + "/step.txtpb") << "model { preset: \"llama3-8b\" layers: 4 }\n"
                                           "parallel { tp: 2 pp: 2 dp: 4 zero: 1 }\n"
                                           "training { seq: 1024 global_batch: 8 }\n";
  const Outcome file = Run("replay " + folder + "/step.txtpb --parallel dp=2 --cluster dgx-h100");
  ASSERT_EQ(file.status, 0) << file.err;
  EXPECT_NE(Makespan(files.out), "");
  EXPECT_EQ(Makespan(files.out), Makespan(memory.out));
  EXPECT_EQ(Makespan(files.out), Makespan(file.out));
  // The kernel model prices all nodes.
  EXPECT_THAT(memory.out, ::testing::Not(HasSubstr("no time")));
  EXPECT_EQ(Run("inspect " + folder + "/step.txtpb").status, 0);
}

// If passes run at the same time, exchanges of experts hold multiprocessors that the kernels of the other
// pass cannot use. Otherwise nothing is slower.
TEST_F(GenerateCli, ExchangesSlowConcurrentPasses) {
  const auto makespan = [&](const char* parallel, const char* more) {
    return ReportOf(absl::StrCat("--model mixtral-8x7b:layers=8 --parallel ", parallel,
                                 " --training seq=4096,global_batch=64,launch=0us --cluster dgx-h100", more))
        .makespan_ps();
  };
  constexpr char kAlone[] = " --set collectives.library.slowdown=1e-9";
  for (const char* parallel : {"pp=2,dp=8,ep=8,schedule=dualpipe", "pp=2,vpp=2,dp=8,ep=8,overlap_expert=yes"})
    EXPECT_GT(makespan(parallel, ""), makespan(parallel, kAlone) * 1.002) << parallel;
  const char* apart = "pp=2,dp=8,ep=8";
  EXPECT_NEAR(static_cast<double>(makespan(apart, "")), static_cast<double>(makespan(apart, kAlone)), 1e3);
}

// A recommendation model: samples in place of tokens, the same results from files, and the memory of ranks
// with equal tables.
TEST_F(GenerateCli, ReportsSamplesOfRecommendationModels) {
  const std::string folder = Folder("tables");
  const std::string step =
      "--model dlrm-dcnv2 --parallel dp=8 --training global_batch=65536,table_optimizer=rowwise_adagrad";
  ASSERT_EQ(Run(absl::StrCat("generate ", step, " -o ", folder, "/each")).status, 0);
  ASSERT_EQ(Run(absl::StrCat("generate --share ", step, " -o ", folder, "/shared")).status, 0);
  const proto::Report memory = ReportOf(step + " --cluster dgx-h100 --energy --prices built-in --grid iowa");
  for (const char* files : {"/each", "/shared"}) {
    const proto::Report report =
        ReportOf(absl::StrCat(folder, files, " --cluster dgx-h100 --energy --prices built-in --grid iowa"));
    EXPECT_EQ(report.makespan_ps(), memory.makespan_ps());
    EXPECT_EQ(report.training().SerializeAsString(), memory.training().SerializeAsString());
  }
  const proto::TrainingReport& t = memory.training();
  const double seconds = static_cast<double>(memory.makespan_ps()) * 1e-12;
  EXPECT_EQ(t.samples(), 65536);
  EXPECT_EQ(t.tokens(), 0);
  EXPECT_NEAR(t.samples_per_s() * seconds, 65536, 1e-6);
  EXPECT_NEAR(t.samples_per_s_per_device() * 8, t.samples_per_s(), 1e-6);
  EXPECT_NEAR(memory.energy().joules_per_sample() * 65536e6,
              static_cast<double>(memory.energy().microjoules()), 1);
  EXPECT_NEAR(memory.cost().dollars_per_million_samples() * 0.065536, memory.cost().dollars_per_step(), 1e-9);
  EXPECT_NEAR(memory.carbon().grams_per_million_samples() * 65536e-9, memory.carbon().kg(), 1e-9);
  ASSERT_EQ(t.memory_size(), 8);
  EXPECT_EQ(t.memory(3).first_rank(), 3);
  bool exposed = false;
  for (const proto::ExposedReport& e : t.exposed()) exposed = exposed || e.kind() == "tables";
  EXPECT_TRUE(exposed);
  const Outcome text = Run("replay " + step + " --cluster dgx-h100");
  EXPECT_THAT(text.out, HasSubstr("samples  65,536 a step"));
  EXPECT_THAT(text.out, testing::Not(HasSubstr("tokens")));
  const Outcome small = Run("generate " + step + " --device-memory 12GiB");
  EXPECT_THAT(small.out, HasSubstr("a rank like 0 does not fit: "));
  EXPECT_THAT(small.out, HasSubstr("--training table_dtype=fp16"));
}

TEST_F(GenerateCli, NamesStagesThatDoNotFit) {
  const Outcome r = Run(std::string("generate ") + kStep + " --device-memory 4GiB");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("a rank of stage 0 does not fit: "));
  EXPECT_THAT(r.out, HasSubstr(" GiB more than 4.00 GiB"));
}

TEST_F(GenerateCli, CountsMfuByThePeakOfGemms) {
  const auto peak = [&](const char* dtype, const char* cluster) {
    return ReportOf(absl::StrCat("--model llama3-8b:layers=2 --parallel tp=2 --training seq=512,dtype=",
                                 dtype, " --cluster ", cluster))
        .training()
        .peak_dtype();
  };
  EXPECT_EQ(peak("nvfp4", "dgx-b200"), "fp4");
  EXPECT_EQ(peak("fp8", "dgx-b200"), "fp8");
  EXPECT_EQ(peak("nvfp4", "dgx-h100"), "bf16");  // it has none of 4 bits
}

TEST_F(GenerateCli, ReportsTokensMfuAndMemory) {
  const std::string folder = Folder("reports");
  ASSERT_EQ(Run(std::string("generate ") + kStep + " -o " + folder + "/step").status, 0);
  const proto::Report files = ReportOf(folder + "/step --cluster dgx-h100");
  const proto::Report memory = ReportOf(std::string(kStep) + " --cluster dgx-h100");
  EXPECT_EQ(files.training().SerializeAsString(), memory.training().SerializeAsString());
  const proto::TrainingReport& t = memory.training();
  const double seconds = static_cast<double>(memory.makespan_ps()) * 1e-12;
  EXPECT_EQ(t.tokens(), 8192);
  EXPECT_NEAR(t.tokens_per_s() * seconds, 8192, 1e-6);
  EXPECT_NEAR(t.mfu() * seconds * 8 * 989e12, t.model_flops(), 1e-6 * t.model_flops());
  EXPECT_EQ(t.hfu(), t.mfu());
  EXPECT_EQ(t.peak_dtype(), "bf16");
  // Memory: by stage, by rank and at the top.
  ASSERT_EQ(t.memory_size(), 2);
  uint64_t most = 0;
  for (const proto::StageMemory& m : t.memory()) {
    EXPECT_EQ(m.peak_memory_bytes(), m.weights_bytes() + m.gradients_bytes() + m.optimizer_bytes() +
                                         m.activations_bytes() + m.working_bytes());
    EXPECT_EQ(m.lacks_bytes(), 0u);
    most = std::max(most, m.peak_memory_bytes());
  }
  EXPECT_EQ(memory.peak_memory_bytes(), most);
  EXPECT_EQ(memory.rank(0).peak_memory_bytes(), t.memory(0).peak_memory_bytes());
  EXPECT_EQ(memory.rank(7).peak_memory_bytes(), t.memory(1).peak_memory_bytes());
  EXPECT_EQ(t.device_memory_bytes(), uint64_t{81559} << 20);
  // Exposed communication by kind adds up to that of the ranks.
  double by_kind = 0, by_rank = 0, computed = 0, busy = 0;
  for (const proto::ExposedReport& e : t.exposed()) by_kind += static_cast<double>(e.mean_ps());
  for (const proto::PhaseReport& p : t.phase()) computed += static_cast<double>(p.mean_ps());
  for (const proto::RankReport& r : memory.rank()) {
    by_rank += static_cast<double>(r.exposed_comm_ps()) / 8;
    busy += static_cast<double>(r.compute_busy_ps()) / 8;
  }
  EXPECT_NEAR(by_kind, by_rank, 8);
  EXPECT_NEAR(computed, busy, 8);
}

TEST_F(GenerateCli, WarnsOfRanksThatDoNotFit) {
  const proto::Report r =
      ReportOf(std::string(kStep) + ",recompute=full --cluster dgx-h100 --device-memory 4GiB");
  ASSERT_EQ(r.warning_size(), 1);
  EXPECT_THAT(r.warning(0), HasSubstr("the step does not fit on 8 of 8 ranks: rank "));
  EXPECT_THAT(r.warning(0), HasSubstr("more than the device's 4 GiB"));
  EXPECT_GT(r.training().hfu(), 1.2 * r.training().mfu());
  EXPECT_EQ(r.training().phase(1).name(), "recompute");
  EXPECT_EQ(Run(std::string("replay ") + kStep + " --device-memory much").status, 2);
  // Recorded traces have no such memory.
  Rank("plain", 0, {With(MakeNode(1, ChakraProtoMsg::COMP_NODE), "num_ops", 1000)});
  const Outcome plain = Run("replay plain --cluster dgx-h100 --format csv");
  EXPECT_EQ(plain.status, 0) << plain.err;
  EXPECT_THAT(plain.out, ::testing::Not(HasSubstr("peak_memory_bytes")));
}

TEST_F(GenerateCli, ListsModels) {
  const Outcome r = Run("generate --list");
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.out, HasSubstr("deepseek-v3"));
}

TEST_F(GenerateCli, RefusesBadArguments) {
  const struct {
    const char* arguments;
    int status;
    const char* error;
  } kCases[] = {
      {"generate", 2, "generate expects WORKLOAD or --model"},
      {"generate --model llama3-8b", 1, "training.seq is missing"},
      {"generate --model llama3-8b --training seq=64 --parallel tp=3", 1,
       "parallel.tp is 3; expected a divisor of model.heads, 32; the nearest is 2"},
      {"generate --model nothing.json --training seq=64", 1, "nothing.json"},
      {"generate --model llama3-8b --training seq=64 -o /dev/null/x", 1, "/dev/null/x"},
      {"generate --model llama3-8b:layers=2 --training seq=64 --ranks 4 -o /tmp/none", 1,
       "there is no rank 4"},
      {"generate --model dlrm --training seq=64", 1, "training.seq is 64, but is for transformers"},
      {"plan --model dlrm --cluster dgx-h100 --ranks 8 --training global_batch=64", 1,
       "`plan` splits only transformers"},
      {"generate nothing.txtpb", 1, "nothing.txtpb"},
      {"replay --parallel tp=2", 2, "replay expects at least one TRACE, or --model"},
      {"replay --model llama3-8b --parallel tp=3 --training seq=64", 1, "the nearest is 2"},
      {"replay --model llama3-8b --training seq=64 --groups x.json", 1,
       "a workload has its own process groups"},
  };
  for (const auto& c : kCases) {
    const Outcome r = Run(c.arguments);
    EXPECT_EQ(r.status, c.status) << c.arguments;
    EXPECT_THAT(r.err, HasSubstr(c.error)) << c.arguments;
  }
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
