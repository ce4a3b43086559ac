// Memory of ranks against measured peaks and published formulas.
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/memory.h"
#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

double Peak(const StepPlan& plan) {
  int64_t peak = 0;
  for (int64_t s = 0; s < plan.split.pp; ++s) peak = std::max(peak, MemoryOfStage(plan, s).total());
  return static_cast<double>(peak) / kGib;
}

// Megatron-LM's documentation, "Distributed Optimizer": 4 + 16 / d bytes of a weight where gradients are kept
// in two bytes, 6 + 12 / d where in four. FSDP keeps four, and reduces two.
TEST(GenerateMemory, OnlyMegatronKeepsNarrowGradients) {
  const auto memory = [](const std::string& parallel, const std::string& training) {
    return MemoryOfStage(PlanOf(kDense, parallel, absl::StrCat("seq=64,global_batch=4,", training)), 0);
  };
  const RankMemory wide = memory("dp=4,zero=1", "dtype=bf16"),
                   narrow = memory("dp=4,zero=1", "dtype=bf16,grad_reduce_dtype=bf16"),
                   half = memory("dp=4,zero=1", "dtype=fp16");
  EXPECT_EQ(narrow.weights, wide.weights);
  EXPECT_EQ(2 * narrow.gradients, wide.gradients);
  EXPECT_EQ(12 * narrow.optimizer, 16 * wide.optimizer);
  EXPECT_EQ(narrow.gradients, half.gradients);
  EXPECT_EQ(narrow.optimizer, half.optimizer);
  const RankMemory fsdp = memory("dp=4", "framework=fsdp"),
                   reduced = memory("dp=4", "framework=fsdp,grad_reduce_dtype=bf16");
  EXPECT_EQ(reduced.gradients, fsdp.gradients);
  EXPECT_EQ(reduced.optimizer, fsdp.optimizer);
  EXPECT_LT(reduced.working, fsdp.working);  // gradients that are reduced after a layer
}

// What FSDP keeps in a pipeline, of each copy, and with checkpointing by operator, by hand.
TEST(GenerateMemory, FsdpsWholeWeightsCopiesAndOperators) {
  const auto memory = [](const std::string& parallel, const std::string& training) {
    const StepPlan plan =
        PlanOf(kDense, parallel, absl::StrCat("seq=128,global_batch=8,framework=fsdp", training));
    return MemoryOfStage(plan, 0);
  };
  const int64_t layer = 2 * 512 * 512 + 2 * 512 * 256 + 3 * 512 * 1024 + 2 * 512, table = 4096 * 512;
  const int64_t stage = 4 * layer + table;  // of two
  const RankMemory pipeline = memory("dp=4,pp=2", ""),
                   again = memory("dp=4,pp=2,reshard_after_forward=yes", "");
  EXPECT_EQ(pipeline.weights, 4 * stage / 4 + 2 * stage);
  EXPECT_EQ(pipeline.gradients, 4 * stage);
  EXPECT_EQ(again.weights, 4 * stage / 4 + 2 * (2 * layer + table));
  const int64_t all = 8 * layer + 2 * table + 512;
  EXPECT_EQ(memory("dp=4,copies=2", "").optimizer, 8 * (all / 2));
  EXPECT_EQ(memory("dp=4", "").optimizer, 8 * (all / 4));
  // The layer's input, queries and values, attention's output and sums, gate, and the output of down; with
  // all GEMMs kept also keys, the output of attention's last GEMM, and up.
  const int64_t halved = 512 + 512 + 256 + 512 + 2 * 8 + 1024 + 512, kept = halved + 256 + 512 + 1024;
  EXPECT_EQ(memory("dp=4", ",recompute=operators,recompute_gemms=yes").activations, 8 * 128 * 2 * halved);
  EXPECT_EQ(memory("dp=4", ",recompute=operators").activations, 8 * 128 * 2 * kept);
}

// Allocated peaks that SimuMax measured on 8 B200 (docs/b200, Megatron-LM, bf16, distributed optimizer).
TEST(GenerateMemory, MatchesMeasuredPeaks) {
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
TEST(GenerateMemory, StatesMatchPublishedBytes) {
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

// Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022, figure 1: GiB of
// weights, gradients and states, and of activations, without recomputation and with the paper's methods.
TEST(GenerateMemory, MatchesPublishedGptModels) {
  const struct {
    const char *model, *parallel, *training;
    int middle;  // a stage without embeddings: the published number is a mean of all stages
    double states, kept, selective_sp;
  } kPublished[] = {
      {"layers=48,hidden=6144,heads=64,ffn=24576", "pp=1", "micro_batch=4,global_batch=4", 0, 45.56, 59.25,
       9.56},
      {"layers=96,hidden=12288,heads=96,ffn=49152", "pp=8,vpp=3", "global_batch=64", 1, 45.56, 66.84, 12.35},
      {"layers=105,hidden=20480,heads=128,ffn=81920", "pp=35,vpp=3", "global_batch=280", 1, 31.64, 114.02,
       23.08},
      {"layers=128,hidden=25600,heads=160,ffn=102400", "pp=64", "global_batch=512", 1, 32.96, 131.25, 26.56},
  };
  for (const auto& p : kPublished) {
    const std::string model =
        absl::StrCat(p.model, ",gated=no,vocab=51200,tied=yes,norm=layer,bias=yes,positions=2048");
    const auto memory = [&](const char* sp, const char* recompute, int stage) {
      return MemoryOfStage(
          PlanOf(model.c_str(), absl::StrCat("tp=8,", p.parallel, ",sp=", sp),
                 absl::StrCat("seq=2048,attention=math,recompute=", recompute, ",", p.training)),
          stage);
    };
    const RankMemory all = memory("no", "none", p.middle);
    EXPECT_NEAR(static_cast<double>(all.weights + all.gradients + all.optimizer) / kGib / p.states, 1, 0.05)
        << p.model;
    EXPECT_NEAR(static_cast<double>(memory("no", "none", 0).activations) / kGib / p.kept, 1, 0.01) << p.model;
    EXPECT_NEAR(static_cast<double>(memory("yes", "selective", 0).activations) / kGib / p.selective_sp, 1,
                0.01)
        << p.model;
  }
}

// Bytes of a token and layer: (12 h + 4 k + 6 f + 4 a) / t.
TEST(GenerateMemory, KeepsTensorsThatTheBackwardReads) {
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

// A stage of 8 layers keeps the inputs of each layer, of each third layer (0, 3 and 6), or of the first three
// and everything of the other layers; in addition, the activations that are recomputed together.
TEST(GenerateMemory, FollowsRecomputedLayers) {
  const auto of = [](const char* more) {
    return MemoryOfStage(
        PlanOf("llama3-8b", "pp=4", absl::StrCat("seq=1024,global_batch=8,recompute=full", more)), 0);
  };
  const int64_t input = 1024 * 4096 * 2, layer = 1024 * (12 * 4096 + 4 * 1024 + 6 * 14336 + 4 * 32);
  EXPECT_EQ(of("").activations, 4 * 8 * input);
  EXPECT_EQ(of(",recompute_layers=3").activations, 4 * 3 * input);
  EXPECT_EQ(of(",recompute_layers=8").activations, 4 * input);
  EXPECT_EQ(of(",recompute_method=block,recompute_layers=3").activations, 4 * (3 * input + 5 * layer));
  EXPECT_EQ(of(",recompute_layers=3").working - of("").working, 2 * layer);
  EXPECT_EQ(of(",recompute_layers=8").working - of("").working, 7 * layer);
  EXPECT_EQ(of(",recompute_method=block,recompute_layers=3").working, of("").working);
  EXPECT_EQ(of("").working - of(",recompute_method=block,recompute_layers=0").working, layer);
}

// Bytes that single modules free, counted by hand: features of a token in two bytes, sums of rows in four.
// The activations of attention or of the MLP that are recomputed together exist during the backward pass of a
// layer.
TEST(GenerateMemory, FollowsRecomputedModules) {
  struct Freed {
    const char *model, *modules;
    int64_t attention, mlp;  // bytes of a token, with tp=1
  };
  const Freed kCases[] = {
      {"llama3-8b", "core_attn", 4 * 32, 0},
      {"llama3-8b", "layernorm", 2 * 4096, 2 * 4096},
      {"llama3-8b", "mlp", 0, 6 * 14336},
      {"llama3-8b", "mlp+layernorm", 2 * 4096, 2 * 4096 + 6 * 14336},
      {"qwen3-30b-a3b", "moe_act", 0, 2 * 8 * 768},
      {"qwen3-30b-a3b", "moe", 0, 8 * (6 * 768 + 4 * 2048) + 4 * 128},
      {"deepseek-v3:dense_layers=0", "mla_up_proj", 2 * 128 * (192 + 192 + 128), 0},
      {"deepseek-v3:dense_layers=0", "shared_experts", 0, 6 * 2048},
      {"deepseek-v3:dense_layers=0", "mla_up_proj+core_attn+moe_act", 2 * 128 * (192 + 192 + 128) + 4 * 128,
       2 * 8 * 2048},
  };
  for (const Freed& c : kCases) {
    const auto plan = [&](absl::string_view more) {
      return PlanOf(c.model, "", absl::StrCat("seq=1000,global_batch=1", more));
    };
    const StepPlan none = plan(""),
                   some = plan(absl::StrCat(",recompute=selective,recompute_modules=", c.modules));
    EXPECT_EQ(ActivationsOfLayer(none, 0) - ActivationsOfLayer(some, 0), 1000 * (c.attention + c.mlp))
        << c.model << " " << c.modules;
    EXPECT_EQ(MemoryOfStage(some, 0).working - MemoryOfStage(none, 0).working,
              1000 * std::max(c.attention, c.mlp))
        << c.model << " " << c.modules;
  }
}

// Dropout before adapters keeps its outputs and a mask of one byte, instead of tensors that nothing else
// reads: the outputs of the norms before attention and the MLP, and of the MLP's activation.
TEST(GenerateMemory, DropoutBeforeAdaptersKeepsMasks) {
  const auto of = [](const char* more) {
    return ActivationsOfLayer(PlanOf("llama3-8b", "", absl::StrCat("seq=1000,lora=8", more)), 0);
  };
  const int64_t attention = 3 * (4096 + 4096), mlp = 3 * (4096 + 14336);
  EXPECT_EQ(of(",lora_dropout=0.1") - of(""), 1000 * (attention - 2 * 4096));
  EXPECT_EQ(of(",lora_on=all,lora_dropout=0.1") - of(",lora_on=all"),
            1000 * (attention + mlp - 2 * 2 * 4096 - 2 * 14336));
}

// Adapters of latent attention keep the narrow features of five GEMMs, and with dropout the inputs after
// dropout.
TEST(GenerateMemory, AdaptersOfLatentAttentionKeepTheirInputs) {
  const auto of = [](const char* more) {
    return ActivationsOfLayer(PlanOf("deepseek-v3:mtp=0", "", absl::StrCat("seq=1000", more)), 0);
  };
  EXPECT_EQ(of(",lora=16") - of(",lora=8"), 1000 * 2 * 8 * 5);
  const int64_t inputs = 7168 + 7168 + 1536 + 512 + 128 * 128;
  EXPECT_EQ(of(",lora=8,lora_dropout=0.1") - of(",lora=8"), 1000 * (3 * inputs - 2 * 7168));
}

// One norm for both halves keeps its input and its output; halves without norms before them keep their
// inputs, and the inputs of the norms after them.
TEST(GenerateMemory, FollowsTheNormsOfABlock) {
  const auto of = [](const char* model) { return ActivationsOfLayer(PlanOf(model, "", "seq=1000"), 0); };
  EXPECT_EQ(of("llama3-8b") - of("llama3-8b:shared_norm=yes"), 1000 * 2 * 2 * 4096);
  EXPECT_EQ(of("llama3-8b"), of("llama3-8b:pre_norm=no,post_norm=yes"));
}

// A norm after each half keeps its input; attention with a window keeps as much as attention without one.
TEST(GenerateMemory, NormsAfterTheHalvesKeepTheirInputs) {
  const int64_t plain = ActivationsOfLayer(PlanOf("llama3-8b", "", "seq=1000"), 0);
  EXPECT_EQ(ActivationsOfLayer(PlanOf("llama3-8b:post_norm=yes", "", "seq=1000"), 0) - plain,
            1000 * 4 * 4096);
  EXPECT_EQ(ActivationsOfLayer(PlanOf("llama3-8b:window=100", "", "seq=1000"), 0), plain);
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
