// Memory of ranks against measured peaks and published formulas.
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/memory.h"
#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"

namespace chakra::generate {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

double Peak(const StepPlan& plan) {
  int64_t peak = 0;
  for (int64_t s = 0; s < plan.split.pp; ++s) peak = std::max(peak, MemoryOfStage(plan, s).total());
  return static_cast<double>(peak) / kGib;
}

// Allocated peaks that SimuMax measured on 8 B200 (docs/b200, Megatron-LM, bf16, distributed optimizer).
TEST(GenerateMemory, IsWhatWasMeasured) {
  const struct {
    const char *model, *parallel;
    double gib;
  } kMeasured[] = {
      {"llama3-70b:layers=12", "pp=2,dp=4", 66.55},
      {"llama3-70b:layers=12", "tp=2,dp=4", 60.68},
      {"llama3-70b:layers=12", "tp=4,dp=2", 39.07},
      {"llama3-70b:layers=12", "tp=8", 28.29},
      {"llama3-405b:layers=4,kv_heads=16", "pp=2,dp=4", 87.08},
      {"llama3-405b:layers=4,kv_heads=16", "tp=2,dp=4", 81.59},
      {"llama3-405b:layers=4,kv_heads=16", "tp=4,dp=2", 52.89},
      {"llama3-405b:layers=4,kv_heads=16", "tp=8", 38.57},
  };
  double sum = 0;
  for (const auto& m : kMeasured) {
    const StepPlan plan =
        PlanOf(m.model, absl::StrCat(m.parallel, ",zero=1"), absl::StrCat("seq=4096,global_batch=32"));
    const double error = Peak(plan) / m.gib - 1;
    EXPECT_LT(std::abs(error), 0.012) << m.model << " " << m.parallel << ": " << Peak(plan) << " GiB";
    sum += std::abs(error);
  }
  EXPECT_LT(sum / 8, 0.007);
}

// Bytes a parameter, Megatron-LM's documentation and Rajbhandari et al., 2020.
TEST(GenerateMemory, HasStatesAsPublished) {
  const auto states = [](const char* parallel, const char* training) {
    const StepPlan plan = PlanOf("layers=4,hidden=1024,heads=8,ffn=4096,vocab=4096", parallel,
                                 absl::StrCat("seq=64,global_batch=64,", training));
    const RankMemory m = MemoryOfStage(plan, 0);
    const StepPlan one =
        PlanOf("layers=4,hidden=1024,heads=8,ffn=4096,vocab=4096", "", "seq=64,optimizer=sgd,dtype=fp32");
    const double parameters = static_cast<double>(MemoryOfStage(one, 0).optimizer) / 4;
    return static_cast<double>(m.weights + m.gradients + m.optimizer) / parameters;
  };
  EXPECT_NEAR(states("", "dtype=bf16"), 18, 1e-6);
  EXPECT_NEAR(states("dp=8,zero=1", "dtype=bf16"), 6 + 12. / 8, 1e-4);
  EXPECT_NEAR(states("dp=8,zero=2", "dtype=bf16"), 2 + 16. / 8, 1e-4);
  EXPECT_NEAR(states("", "dtype=fp16"), 20, 1e-6);
  EXPECT_NEAR(states("dp=8,zero=1", "dtype=fp16"), 4 + 16. / 8, 1e-4);
  EXPECT_NEAR(states("", "dtype=fp32"), 16, 1e-6);
  EXPECT_NEAR(states("dp=8,zero=1", "dtype=fp32"), 8 + 8. / 8, 1e-4);
}

// Bytes of a token and layer: (12 h + 4 k + 6 f + 4 a) / t.
TEST(GenerateMemory, KeepsWhatTheBackwardReads) {
  const StepPlan plan = PlanOf("llama3-8b", "tp=2", "seq=1000");
  EXPECT_EQ(ActivationsOfLayer(plan, 0), 1000 * (12 * 4096 + 4 * 1024 + 6 * 14336 + 4 * 32) / 2);
}

TEST(GenerateMemory, FollowsTheSchedule) {
  const auto activations = [](const char* parallel, int64_t stage, const char* more = "") {
    return MemoryOfStage(PlanOf("llama3-8b", parallel, absl::StrCat("seq=1024,global_batch=8", more)), stage)
        .activations;
  };
  EXPECT_EQ(activations("pp=4", 0), 4 * activations("pp=4", 3));
  EXPECT_EQ(activations("pp=4,schedule=gpipe", 0), 2 * activations("pp=4", 0));
  // Narayanan et al., 2021: interleaving keeps 1 + (p - 1) / (p v) times as much on the first stage.
  EXPECT_EQ(activations("pp=4,vpp=2", 0) * 8, activations("pp=4", 0) * 11);
  // Full recomputation keeps the input of a layer: 2 of (12 h + ...) / h bytes.
  EXPECT_EQ(activations("pp=4", 0, ",recompute=full"), 4 * 8 * 1024 * 4096 * 2);
}

}  // namespace
}  // namespace chakra::generate
