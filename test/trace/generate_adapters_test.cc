// Steps that train only adapters, against independent counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/trace/generate_schedule_testing.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/counts.h"
#include "trace/generate/memory.h"
#include "trace/generate/operators.h"
#include "trace/generate/workload.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

constexpr char kSmall[] = "layers=8,hidden=512,heads=8,kv_heads=4,ffn=1024,vocab=4096";

// The rank-16 adapters of attention that MLPerf's fine-tuning of Llama 2 70B trains.
TEST(GenerateAdapters, CountsTrainedParameters) {
  EXPECT_EQ(TrainedParameters(PlanOf("llama2-70b", "", "seq=8192,lora=16")), 44564480);
  // With adapters on all linear layers, by hand: 3 matrices of the MLP; the first two are one GEMM.
  const int64_t mlp = 80 * 16 * (8192 + 2 * 28672 + 28672 + 8192);
  EXPECT_EQ(TrainedParameters(PlanOf("llama2-70b", "", "seq=8192,lora=16,lora_on=all")), 44564480 + mlp);
}

// Adapters of latent attention: down and up projections of queries and of keys and values, and the output
// projection.
TEST(GenerateAdapters, CountsTrainedParametersOfLatentAttention) {
  EXPECT_EQ(
      TrainedParameters(PlanOf("deepseek-v3:mtp=0", "", "seq=4096,lora=16")),
      61 * 16 * ((7168 + 1536) + (7168 + 576) + (1536 + 128 * 192) + (512 + 128 * 256) + (128 * 128 + 7168)));
  EXPECT_EQ(TrainedParameters(
                PlanOf("layers=4,hidden=512,heads=8,ffn=1024,vocab=4096,kv_rank=64,nope_dim=32,rope_dim=16,"
                       "v_dim=32",
                       "", "seq=512,lora=8")),
            4 * 8 * ((512 + 80) + (512 + 8 * 48) + (64 + 8 * 64) + (8 * 32 + 512)));
}

struct Work {
  double model = 0, adapters = 0;
};

// Operations of GEMMs in all phases, over all ranks.
Work GemmsOf(const StepGraphs& step) {
  Work sum;
  for (const StageGraph& stage : step.stages) {
    for (const StepNode& n : stage.nodes) {
      if (n.type != NodeType::kComp) continue;
      const Operator& op = stage.operators[n.op];
      if (!absl::StrContains(op.name, "mm")) continue;
      const bool adapter = absl::EndsWith(n.spot.part, "_adapter");
      (adapter ? sum.adapters : sum.model) += static_cast<double>(op.operations);
    }
  }
  const auto ranks = static_cast<double>(step.plan.split.stage_ranks());
  return {sum.model * ranks, sum.adapters * ranks};
}

// Each GEMM of the model runs forward and for the gradient of its input; a GEMM of an adapter runs for the
// gradient of its weight, too.
TEST(GenerateAdapters, ComputesNoGradientsOfFrozenWeights) {
  for (const char* parallel :
       {"", "tp=4", "tp=4,sp=no", "pp=2,dp=2", "pp=2,dp=2,schedule=zb-h1", "cp=2", "dp=4,zero=3"}) {
    for (const char* on : {"attention", "all"}) {
      const StepGraphs step =
          Step(kSmall, parallel, absl::StrCat("seq=1024,global_batch=8,lora=8,lora_on=", on));
      const double tokens =
          static_cast<double>(step.plan.training.seq) * static_cast<double>(step.plan.training.global_batch);
      const double matrices = 8.0 * (512 * (512 + 2 * 256) + 512 * 512 + 3 * 512 * 1024) + 512 * 4096;
      const Work work = GemmsOf(step);
      EXPECT_NEAR(work.model / (4 * matrices * tokens), 1, 1e-12) << parallel << " " << on;
      // Each rank of tp has one half of each adapter whole: `hidden` is on one side of each pair of GEMMs.
      // With sp, the half after a row-parallel GEMM gets a share of the tokens.
      const auto tp = static_cast<double>(step.plan.split.tp);
      const double pairs = on[1] == 'l' ? 2 : 1;
      const double wholes = 8 * 8 * 512 * pairs * (tp - 1) * (step.plan.split.sp || tp == 1 ? 1 : 2);
      const double expected = 6 * (static_cast<double>(TrainedParameters(step.plan)) + wholes) * tokens;
      EXPECT_NEAR(work.adapters / expected, 1, 1e-12) << parallel << " " << on;
    }
  }
}

TEST(GenerateAdapters, ComputesNoGradientsOfFrozenLatentAttention) {
  for (const char* q_rank : {"0", "128"}) {
    for (const char* parallel :
         {"", "pp=2,dp=2", "pp=2,dp=2,schedule=zb-h1", "cp=2", "dp=4,zero=3", "dp=2,zero=1"}) {
      for (const char* dropout : {"", ",lora_dropout=0.1"}) {
        const StepGraphs step = Step(
            absl::StrCat(
                "layers=8,hidden=512,heads=8,ffn=1024,vocab=4096,kv_rank=64,nope_dim=32,rope_dim=16,v_dim=32,"
                "q_rank=",
                q_rank),
            parallel, absl::StrCat("seq=1024,global_batch=8,lora=8", dropout));
        const double tokens = 1024 * 8;
        const double q = q_rank[0] == '0' ? 512 : 128, down = q_rank[0] == '0' ? 80 : 80 + 128;
        const double matrices =
            8.0 * (512 * down + q * 8 * 48 + 64 * 8 * 64 + 8 * 32 * 512 + 3 * 512 * 1024) + 512 * 4096;
        const Work work = GemmsOf(step);
        EXPECT_NEAR(work.model / (4 * matrices * tokens), 1, 1e-12) << parallel << " " << q_rank;
        EXPECT_NEAR(work.adapters / (6 * static_cast<double>(TrainedParameters(step.plan)) * tokens), 1,
                    1e-12)
            << parallel << " " << q_rank;
        int64_t trained = 0;
        for (const StageGraph& stage : step.stages) trained += stage.weights;
        EXPECT_EQ(trained, TrainedParameters(step.plan)) << parallel;
      }
    }
  }
}

TEST(GenerateAdapters, SharesOnlyGradientsOfAdapters) {
  constexpr char kLatent[] =
      "layers=8,hidden=512,heads=8,ffn=1024,vocab=4096,kv_rank=64,q_rank=128,nope_dim=32,rope_dim=16,v_dim="
      "32";
  for (const auto& [model, parallel] : {std::pair{kSmall, "dp=4"},
                                        {kSmall, "dp=4,pp=2,zero=1"},
                                        {kSmall, "dp=4,pp=2,zero=2"},
                                        {kSmall, "dp=4,zero=3"},
                                        {kLatent, "dp=4"},
                                        {kLatent, "dp=4,pp=2,zero=1"},
                                        {kLatent, "dp=4,zero=3"}}) {
    const StepGraphs step = Step(model, parallel, "seq=512,global_batch=16,lora=8,lora_on=all");
    int64_t reduced = 0, trained = 0;
    for (const StageGraph& stage : step.stages) {
      reduced += Reduced(step, stage);
      trained += stage.weights;
      EXPECT_EQ(stage.expert_weights, 0);
    }
    EXPECT_EQ(reduced, TrainedParameters(step.plan)) << parallel;
    EXPECT_EQ(trained, TrainedParameters(step.plan)) << parallel;
  }
}

// Dropout before each adapter: a forward kernel that reads and writes its input and writes a mask of one
// byte, and a backward kernel that reads gradient and mask and writes the gradient; no other kernels, and
// inputs are not gathered again.
TEST(GenerateAdapters, AddDropoutKernels) {
  for (const char* parallel : {"", "tp=2"}) {
    const auto step = [&](const char* more) {
      return Step(kSmall, parallel, absl::StrCat("seq=1024,global_batch=1,lora=8,lora_on=all", more));
    };
    const StepGraphs plain = step(""), drops = step(",lora_dropout=0.1");
    int64_t forward = 0, backward = 0, kernels = 0;
    const auto kernels_of = [](const StepGraphs& s) {
      int64_t n = 0;
      for (const StepNode& node : s.stages[0].nodes)
        n += node.type == NodeType::kComp && node.stream != Stream::kHost ? 1 : 0;
      return n;
    };
    for (const StepNode& n : drops.stages[0].nodes) {
      if (n.type != NodeType::kComp || !absl::EndsWith(n.spot.part, "_adapter")) continue;
      const Operator& op = drops.stages[0].operators[n.op];
      if (op.name == "fused_dropout_elementwise_kernel") forward += op.bytes;
      if (op.name == "masked_scale_elementwise_kernel") backward += op.bytes;
      kernels +=
          op.name == "fused_dropout_elementwise_kernel" || op.name == "masked_scale_elementwise_kernel";
    }
    const int64_t tp = plain.plan.split.tp, inputs = 512 + 512 / tp + 512 + 1024 / tp;
    EXPECT_EQ(forward, 8 * 5 * 1024 * inputs) << parallel;
    EXPECT_EQ(backward, forward) << parallel;
    EXPECT_EQ(kernels, 8 * 2 * 4) << parallel;
    EXPECT_EQ(kernels_of(drops) - kernels_of(plain), kernels) << parallel;
    int64_t gathers = 0;
    for (const StepGraphs* s : {&plain, &drops}) {
      for (const StepNode& n : s->stages[0].nodes) {
        const bool gather = n.type == NodeType::kCollective && n.collective == CollectiveType::kAllGather;
        gathers += gather ? (s == &plain ? 1 : -1) : 0;
      }
    }
    EXPECT_EQ(gathers, tp > 1 ? 8 * 2 : 0) << parallel;  // for the inputs of qkv and the MLP
  }
}

// No sums for biases of frozen weights, nor for the biases of gpt-oss's router.
TEST(GenerateAdapters, SumsNoRowsForFrozenBiases) {
  const std::string model = absl::StrCat(kSmall, ",bias=yes,experts=4,top_k=2,expert_ffn=256");
  const auto sums = [&](const char* training) {
    const StepGraphs step = Step(model, "dp=2", training);
    int64_t nodes = 0;
    for (const StepNode& n : step.stages[0].nodes) {
      const bool computes = n.type == NodeType::kComp;
      nodes +=
          computes && step.stages[0].operators[n.op].name == Operators(step.plan.training).SumRows(1, 1).name
              ? 1
              : 0;
    }
    return nodes;
  };
  EXPECT_GT(sums("seq=512,global_batch=2"), 0);
  EXPECT_EQ(sums("seq=512,global_batch=2,lora=8"), 0);
}

TEST(GenerateAdapters, HoldFrozenWeightsInTheTypeOfGemms) {
  const char* training = "seq=1024,global_batch=4";
  const StepPlan all = PlanOf(kSmall, "dp=4,zero=1", training);
  const StepPlan some = PlanOf(kSmall, "dp=4,zero=1", absl::StrCat(training, ",lora=8"));
  const RankMemory of_all = MemoryOfStage(all, 0), of_some = MemoryOfStage(some, 0);
  const int64_t model = CountParameters(all.model).total, trained = TrainedParameters(some);
  EXPECT_EQ(of_some.weights, 2 * (model + trained));
  EXPECT_EQ(of_some.gradients, 4 * trained);
  EXPECT_EQ(of_some.optimizer, 12 * trained / 4);
  // Only gradients of the MLP's weights need the MLP's input and the output of its activation; adapters keep
  // their narrow features.
  EXPECT_EQ(of_all.activations - of_some.activations, 8 * 2 * 1024 * (512 + 1024 - 2 * 8));
  const RankMemory sharded =
      MemoryOfStage(PlanOf(kSmall, "dp=4,zero=3", absl::StrCat(training, ",framework=fsdp,lora=8")), 0);
  EXPECT_LT(sharded.weights, of_some.weights);
  EXPECT_EQ(sharded.optimizer, 8 * trained / 4);
}

TEST(GenerateAdapters, RefusesUnsupportedSettings) {
  using testing::HasSubstr;
  EXPECT_EQ(ErrorOf("deepseek-v3:mtp=0", "", "seq=128,lora=8"), "");
  EXPECT_THAT(ErrorOf("mixtral-8x7b", "", "seq=128,lora=8,lora_on=all"),
              HasSubstr("training.lora_on=all with experts"));
  EXPECT_THAT(ErrorOf("llama3-8b", "", "seq=128,lora_on=all"), HasSubstr("expected training.lora too"));
  EXPECT_THAT(ErrorOf("llama3-8b", "", "seq=128,lora=-1"), HasSubstr("lora"));
  EXPECT_THAT(ErrorOf("llama3-8b", "", "seq=128,lora_dropout=0.1"),
              HasSubstr("training.lora_dropout is for adapters; expected training.lora too"));
  EXPECT_THAT(ErrorOf("llama3-8b", "", "seq=128,lora=8,lora_dropout=1"), HasSubstr("lora_dropout"));
  EXPECT_EQ(ErrorOf("mixtral-8x7b", "", "seq=128,lora=8"), "");
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
