// Recomputation of layers and single modules, against the forward pass and the closed form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/trace/generate_schedule_testing.h"
#include "trace/generate/counts.h"
#include "trace/generate/write.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

// Recomputed layers, and how often each is recomputed, counted by their attention.
TEST(GenerateRecompute, RecomputesTheGivenLayers) {
  const auto layers = [](const char* parallel, const char* training) {
    const StepGraphs step =
        Step(kDense, parallel, std::string("seq=128,global_batch=4,recompute=full") + training);
    std::map<int, int> of_layer;
    double again = 0;
    for (const StageGraph& stage : step.stages) {
      for (const StepNode& n : stage.nodes) {
        if (n.type != NodeType::kComp || n.stream == Stream::kHost ||
            !absl::StartsWith(n.spot.phase, "recompute"))
          continue;
        const Operator& op = stage.operators[n.op];
        if (absl::StrContains(op.name, "mm") || absl::StrContains(op.name, "attention"))
          again += static_cast<double>(op.operations);
        if (absl::StartsWith(n.spot.part, "attention.core")) ++of_layer[n.spot.layer];
      }
    }
    // The closed form has no diagonal of the mask.
    const double tokens = 4 * 128, known = RecomputedFlopsPerToken(step.plan) * tokens;
    EXPECT_NEAR(again, known, 0.01 * known) << parallel << "|" << training;
    return of_layer;
  };
  using Counts = std::map<int, int>;
  const Counts all = {{0, 4}, {1, 4}, {2, 4}, {3, 4}, {4, 4}, {5, 4}, {6, 4}, {7, 4}};
  EXPECT_EQ(layers("pp=2", ""), all);
  EXPECT_EQ(layers("pp=2", ",recompute_layers=4"), all);
  EXPECT_EQ(layers("pp=2", ",recompute_layers=3"), all);  // 3 and 1 of a stage
  EXPECT_EQ(layers("pp=2", ",recompute_method=block,recompute_layers=1"), (Counts{{0, 4}, {4, 4}}));
  EXPECT_EQ(layers("pp=2,vpp=2", ",recompute_method=block,recompute_layers=1"),
            (Counts{{0, 4}, {2, 4}, {4, 4}, {6, 4}}));
  EXPECT_EQ(layers("", ",recompute_method=block,recompute_layers=3"), (Counts{{0, 4}, {1, 4}, {2, 4}}));
  EXPECT_EQ(layers("", ",recompute_method=block,recompute_layers=9"), all);
  EXPECT_EQ(layers("", ",recompute_method=block,recompute_layers=0"), Counts());
  EXPECT_EQ(layers("pp=2", ",recompute_method=every,recompute_layers=3"), (Counts{{2, 4}, {5, 4}}));
}

// Computations of a phase whose part begins with one of `parts`, over all stages: how often each is there.
std::map<std::string, int> ComputationsOf(const StepGraphs& step, const char* phase,
                                          const std::vector<std::string>& parts) {
  std::map<std::string, int> out;
  for (const StageGraph& stage : step.stages) {
    for (const StepNode& n : stage.nodes) {
      if (n.type != NodeType::kComp || n.stream == Stream::kHost || !absl::StartsWith(n.spot.phase, phase))
        continue;
      const auto is_part = [&](const std::string& part) { return absl::StartsWith(n.spot.part, part); };
      if (n.spot.layer < 0 || std::none_of(parts.begin(), parts.end(), is_part)) continue;
      const Operator& op = stage.operators[n.op];
      ++out[absl::StrCat(n.spot.layer, "|", n.spot.micro_batch, "|", n.spot.part, "|", op.name, "|",
                         op.shapes, "|", op.operations, "|", op.bytes, "|", op.launches)];
    }
  }
  return out;
}

// Single modules: each kernel of their forward pass runs once more, no other kernel does, and operations
// match the closed form.
TEST(GenerateRecompute, RecomputesSingleModules) {
  const std::vector<std::string> mlp = {"mlp.up", "mlp.activation", "mlp.down"};
  const std::vector<std::string> up = {"attention.q_up", "attention.kv_up", "attention.rope"};
  const struct {
    const char *model, *modules;
    std::vector<std::string> parts;  // of the forward pass, by how they begin
  } kCases[] = {
      {kDense, "core_attn", {"attention.core"}},
      {kDense, "layernorm", {"attention.norm", "mlp.norm"}},
      {kDense, "mlp", mlp},
      {kDense, "mlp_up", {"mlp.up", "mlp.activation"}},
      {kDense, "out_proj", {"attention.out"}},
      {kDense, "qkv_proj", {"attention.qkv", "attention.rope"}},
      {kDense, "mlp+layernorm", {"attention.norm", "mlp.norm", "mlp.up", "mlp.activation", "mlp.down"}},
      {kLatent, "mla_up_proj", up},
      {kLatent,
       "core_attn+mla_up_proj",
       {"attention.q_up", "attention.kv_up", "attention.rope", "attention.core"}},
      {kExperts, "moe_act", {"experts.activation"}},
      {kExperts, "shared_experts", {"shared.up", "shared.down"}},
      {kExperts, "moe", {"experts.", "router", "shared."}},
      {kExperts, "mlp", {"mlp.up", "mlp.down"}},
      {"layers=2,hidden=512,heads=8,ffn=1024,vocab=4096,norm=layer,shared_norm=yes",
       "layernorm",
       {"attention.norm"}},
  };
  for (const auto& c : kCases) {
    const std::string what = absl::StrCat(c.model, "|", c.modules);
    const bool experts = absl::StrContains(c.model, "experts");
    const StepGraphs step =
        Step(c.model, experts ? "tp=2,dp=2,pp=2,ep=2" : "tp=2,pp=2",
             absl::StrCat("seq=256,global_batch=4,recompute=selective,recompute_modules=", c.modules));
    const auto again = ComputationsOf(step, "recompute", c.parts);
    EXPECT_FALSE(again.empty()) << what;
    EXPECT_EQ(again, ComputationsOf(step, "forward", c.parts)) << what;
    double operations = 0;
    for (const StageGraph& stage : step.stages) {
      for (const StepNode& n : stage.nodes) {
        if (n.type != NodeType::kComp || n.stream == Stream::kHost ||
            !absl::StartsWith(n.spot.phase, "recompute"))
          continue;
        const std::string part = n.spot.part;
        // The activation of shared experts is named as that of the MLP.
        EXPECT_TRUE(std::any_of(c.parts.begin(), c.parts.end(),
                                [&](const std::string& p) { return absl::StartsWith(n.spot.part, p); }) ||
                    part == "mlp.activation")
            << what << " " << part;
        const Operator& op = stage.operators[n.op];
        if (part != "router" && (absl::StrContains(op.name, "mm") || absl::StrContains(op.name, "attention")))
          operations += static_cast<double>(op.operations);
      }
    }
    const double tokens = 4 * 256, known = RecomputedFlopsPerToken(step.plan) * tokens;
    operations *= static_cast<double>(step.plan.split.stage_ranks());
    EXPECT_NEAR(operations, known, 0.01 * known) << what;  // no diagonal of the mask
  }
}

// In fp8, the input of the experts' second GEMM is cast once more.
TEST(GenerateRecompute, RecomputedActivationsAreCastAgain) {
  const StepGraphs step =
      Step(kExperts, "dp=2,ep=2",
           "seq=256,global_batch=4,dtype=fp8,recompute=selective,recompute_modules=moe_act");
  int casts = 0, activations = 0;
  for (const StepNode& n : step.stages[0].nodes) {
    if (n.type != NodeType::kComp || !absl::StartsWith(n.spot.phase, "recompute")) continue;
    const std::string& name = step.stages[0].operators[n.op].name;
    casts += name == "cast_transpose_elementwise_kernel" ? 1 : 0;
    activations += name == "swiglu_kernel" ? 1 : 0;
  }
  EXPECT_EQ(activations, 6 * 2);  // layers of experts, micro-batches
  EXPECT_EQ(casts, 6 * 2);
}

// PyTorch's checkpointing by operator. Queries, keys, values, gate and up have GEMMs of their own. Of the
// seven GEMMs of a layer, `recompute_gemms` repeats the second, fourth and sixth: keys, output and up.
TEST(GenerateRecompute, RecomputesOperators) {
  const auto recomputed = [](const char* more) {
    const StepGraphs step =
        Step(kDense, "dp=2", absl::StrCat("seq=128,global_batch=2,framework=fsdp,recompute=operators", more));
    std::vector<std::string> out;
    double again = 0;
    for (const StepNode& n : step.stages[0].nodes) {
      if (n.type != NodeType::kComp || n.stream == Stream::kHost || n.spot.layer != 3 ||
          !absl::StartsWith(n.spot.phase, "recompute"))
        continue;
      const Operator& op = step.stages[0].operators[n.op];
      const bool gemm = absl::StrContains(op.name, "mm");
      if (gemm) again += static_cast<double>(op.operations);
      out.push_back(gemm ? absl::StrCat(n.spot.part, " ", op.shapes) : n.spot.part);
    }
    const double known = RecomputedFlopsPerToken(step.plan) * 128 / 8;  // of one layer
    EXPECT_NEAR(again, known, 1e-9 * known + 1e-9);
    return out;
  };
  EXPECT_THAT(recomputed(""), testing::ElementsAre("attention.norm", "attention.rope", "attention.add",
                                                   "mlp.norm", "mlp.activation"));
  EXPECT_THAT(
      recomputed(",recompute_gemms=yes"),
      testing::ElementsAre("attention.norm", "attention.qkv [[128, 512], [512, 256]]", "attention.rope",
                           "attention.out [[128, 512], [512, 512]]", "attention.add", "mlp.norm",
                           "mlp.up [[128, 512], [512, 1024]]", "mlp.activation"));
  // The policy knows no GEMM of fp8: all seven run again, but for the last, whose output nothing needs.
  const std::vector<std::string> fp8 = recomputed(",recompute_gemms=yes,dtype=fp8");
  EXPECT_EQ(std::count_if(fp8.begin(), fp8.end(),
                          [](const std::string& part) { return absl::StrContains(part, "[["); }),
            6);
}

// Layers that are recomputed together run forward one after the other before the backward pass of the first
// of them.
TEST(GenerateRecompute, RecomputesLayersTogether) {
  const StepGraphs step = Step(kDense, "", "seq=128,global_batch=1,recompute=full,recompute_layers=3");
  std::vector<std::string> order;
  for (const StepNode& n : step.stages[0].nodes) {
    if (n.type != NodeType::kComp || n.stream == Stream::kHost ||
        !absl::StartsWith(n.spot.part, "attention.core") || absl::StartsWith(n.spot.phase, "forward"))
      continue;
    order.push_back(absl::StrCat(std::string(n.spot.phase).substr(0, 1), n.spot.layer));
  }
  EXPECT_THAT(order, testing::ElementsAre("r6", "r7", "b7", "b6", "r3", "r4", "r5", "b5", "b4", "b3", "r0",
                                          "r1", "r2", "b2", "b1", "b0"));
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
