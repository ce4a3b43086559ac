// Offloading to the host's memory: sizes, the order of copies, settings that are refused, and the names in
// frameworks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/trace/generate_testing.h"
#include "trace/foreign/foreign.h"
#include "trace/generate/copies.h"
#include "trace/generate/memory.h"
#include "trace/generate/stage.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

// NVIDIA's run on 16 H100 (Megatron-Bridge, skills/nemo-mbridge-perf-cpu-offloading/card.yaml): GB allocated,
// by the share of the optimizer that is offloaded.
TEST(GenerateOffload, OptimizerFreesMeasuredBytes) {
  const auto allocated = [](const std::string& training) {
    const RankMemory m = MemoryOfStage(PlanOf("qwen3-30b-a3b", "tp=2,pp=2,dp=4,ep=4,zero=1",
                                              absl::StrCat("seq=4096,global_batch=8", training)),
                                       0);
    return static_cast<double>(m.weights + m.gradients + m.optimizer) / 1e9;
  };
  EXPECT_NEAR(allocated(""), 47.2, 0.3);
  const double kFreed[] = {3.8, 7.6, 11.6, 15.3};
  for (int i = 0; i < 4; ++i) {
    const double share = 0.25 * (i + 1);
    EXPECT_NEAR(allocated("") - allocated(absl::StrCat(",offload=optimizer,offload_share=", share)),
                kFreed[i], 0.2)
        << share;
  }
}

TEST(GenerateOffload, HostHoldsOffloadedBytes) {
  const RankMemory all = MemoryOfStage(PlanOf(kDense, "dp=2,zero=1", "seq=128,global_batch=2"), 0);
  const StepPlan plan =
      PlanOf(kDense, "dp=2,zero=1", "seq=128,global_batch=2,offload=activations+optimizer,offload_layers=5");
  const RankMemory left = MemoryOfStage(plan, 0);
  const int64_t layer = ActivationsOfLayer(plan, 0);
  EXPECT_EQ(left.activations, all.activations - 4 * layer);  // one of the five is being copied
  const int64_t updated = all.optimizer / 12;                // fp32 weights and two averages
  EXPECT_EQ(left.optimizer, all.optimizer - 8 * updated);
  EXPECT_EQ(left.host, 5 * layer + 16 * updated);
  EXPECT_EQ(all.host, 0);
}

TEST(GenerateOffload, WindowsCoverAllLayers) {
  for (int64_t layers = 1; layers < 8; ++layers) {
    const StepPlan plan =
        PlanOf(kDense, "", absl::StrCat("seq=64,offload=activations,offload_layers=", layers));
    int64_t before = 0;
    for (int64_t i = 0; i < layers; ++i) {
      const int64_t end = EndOfWindow(plan, i);
      EXPECT_GT(end, i) << "the layer is there before its window ends";
      EXPECT_GE(end, before);
      EXPECT_LE(end - before, 8 / layers + (i == 0 ? 0 : 1));
      before = end;
    }
    EXPECT_EQ(before, 7);
  }
}

// For each micro-batch, each layer is copied out once after its forward pass, and copied back once before its
// backward pass, in reverse order.
TEST(GenerateOffload, CopiesRunBetweenThePassesOfTheirLayer) {
  const StepPlan plan = PlanOf(kDense, "", "seq=64,global_batch=3,offload=activations,offload_layers=6");
  const auto graph = BuildStage(plan, 0);
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<int> order;
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const StepNode& n = graph->nodes[i];
    if (!IsCopy(n)) continue;
    EXPECT_EQ(n.bytes, ActivationsOfLayer(plan, n.spot.layer));
    const bool out = n.type == NodeType::kMemStore;
    EXPECT_EQ(n.stream, out ? Stream::kOffload : Stream::kReload);
    order.push_back(out ? n.spot.layer : -n.spot.layer - 1);
    for (size_t j = 0; j < graph->nodes.size(); ++j) {
      const StepNode& other = graph->nodes[j];
      if (other.stream != Stream::kCompute || other.spot.layer != n.spot.layer ||
          other.spot.micro_batch != n.spot.micro_batch)
        continue;
      if (std::string(other.spot.phase) == "forward") {
        EXPECT_LT(j, i);
      }
      if (std::string(other.spot.phase) == "backward") {
        EXPECT_GT(j, i);
      }
    }
  }
  std::vector<int> expected;
  for (int b = 0; b < 3; ++b) {
    for (int i = 0; i < 6; ++i) expected.push_back(i);
    for (int i = 5; i >= 0; --i) expected.push_back(-i - 1);
  }
  EXPECT_EQ(order, expected);
}

TEST(GenerateOffload, RefusesSettingsThatFrameworksRefuse) {
  const auto error = [](const std::string& parallel, const std::string& training) {
    return ErrorOf(kDense, parallel, absl::StrCat("seq=64,", training));
  };
  EXPECT_THAT(error("", "offload=activation"), HasSubstr("training.offload has \"activation\""));
  EXPECT_THAT(error("", "offload=activation"), HasSubstr("activations"));
  EXPECT_THAT(error("", "offload=activations+activations"), HasSubstr("twice"));
  EXPECT_THAT(error("pp=2", "offload=activations"),
              HasSubstr("parallel.pp is 2; with training.offload=activ"));
  EXPECT_THAT(error("", "offload=activations,recompute=full"), HasSubstr("expected recompute=none"));
  EXPECT_THAT(error("", "offload=activations,cuda_graphs=yes"), HasSubstr("expected cuda_graphs=no"));
  EXPECT_THAT(error("", "offload=activations,offload_layers=8"), HasSubstr("the nearest is 7"));
  EXPECT_THAT(error("", "offload_layers=3"), HasSubstr("expected training.offload=activations too"));
  EXPECT_THAT(error("dp=2,zero=0", "offload=optimizer"),
              HasSubstr("parallel.zero is 0; with training.offload=optim"));
  EXPECT_THAT(error("dp=2,zero=1", "offload=optimizer,offload_share=1.5"), HasSubstr("offload_share"));
  EXPECT_THAT(error("dp=2,zero=1", "offload_share=0.5"),
              HasSubstr("expected training.offload=optimizer too"));
  EXPECT_THAT(error("dp=2,zero=1", "offload=optimizer,optimizer=sgd"), HasSubstr("adam, adamw"));
  EXPECT_THAT(error("dp=2,zero=1", "offload=optimizer,optimizer=adagrad"),
              HasSubstr("training.offload=optimizer with optimizer=adagrad is not generated yet"));
  EXPECT_THAT(error("dp=2", "offload=optimizer,framework=fsdp"), HasSubstr("framework=megatron"));
}

TEST(GenerateOffload, ReadsMegatronNames) {
  const auto read = [](const std::string& more) {
    const auto workload = foreign::ReadForeign(
        absl::StrCat("--num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 2048\n"
                     "--max-position-embeddings 2048 --vocab-size 1024 --bf16 "
                     "--use-distributed-optimizer\n",
                     more),
        "run.conf");
    EXPECT_TRUE(workload.ok()) << workload.status();
    return workload.ok() ? *workload : proto::Workload();
  };
  const proto::Training both =
      read(
          "--cpu-offloading-num-layers 4 --optimizer-cpu-offload --optimizer-offload-fraction 0.5 "
          "--overlap-cpu-optimizer-d2h-h2d")
          .training();
  EXPECT_EQ(both.offload(), "activations+optimizer");
  EXPECT_EQ(both.offload_layers(), 4);
  EXPECT_EQ(both.offload_share(), 0.5);
  EXPECT_TRUE(both.overlap_offload());
  EXPECT_FALSE(read("--optimizer-cpu-offload").training().has_offload_share());
  EXPECT_EQ(read("--optimizer-cpu-offload").training().offload(), "optimizer");
  EXPECT_EQ(read("").training().offload(), "");
  EXPECT_FALSE(
      foreign::ReadForeign("--num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 2048\n"
                  "--max-position-embeddings 2048 --vocab-size 1024 --optimizer-offload-fraction 3\n",
                  "run.conf")
          .ok());
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
