// NeMo Automodel's files as workloads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test/trace/foreign_testing.h"

namespace chakra::foreign::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kDense[] = R"(recipe: BenchmarkingRecipeForNextTokenPrediction
seed: 42
benchmark:
  num_nodes: 8
  peak_tflops: 989
step_scheduler:
  global_batch_size: 128
  local_batch_size: 1
  max_steps: 10
model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
  pretrained_model_name_or_path: meta-llama/Llama-3.1-70B
  torch_dtype: bf16
  attn_implementation: sdpa
  backend:
    rms_norm: torch_fp32
dataset:
  _target_: nemo_automodel.components.datasets.llm.mock_iterable_dataset.MockIterableDataset
  seq_len: 8192
optimizer:
  _target_: transformer_engine.pytorch.optimizers.FusedAdam
  lr: 0.0002
distributed:
  strategy: fsdp2
  dp_size: null
  tp_size: 1
  cp_size: 2
  pp_size: 1
  sequence_parallel: False
  activation_checkpointing: True
  enable_compile: True
  reshard_after_forward: True
  defer_fsdp_grad_sync: False
)";

constexpr char kExperts[] = R"(step_scheduler:
  global_batch_size: 128
  local_batch_size: 1
model:
  config:
    pretrained_model_name_or_path: nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16
  num_nextn_predict_layers: 2
  mtp_use_repeated_layer: true
  backend: {attn: te, linear: te, experts: torch_mm, dispatcher: hybridep}
distributed:
  dp_size: 128
  dp_replicate_size: 2
  ep_size: 64
  moe: {reshard_after_forward: true}
loss_fn:
  _target_: nemo_automodel.components.loss.linear_ce.FusedLinearCrossEntropy
dataset: {seq_len: 4096}
)";

TEST(ForeignAutomodel, ADenseBenchmark) {
  const proto::Workload w = ReadText(kDense, {});
  EXPECT_EQ(w.model().preset(), "llama3-70b");
  EXPECT_EQ(w.parallel().dp(), 32);
  EXPECT_EQ(w.parallel().cp(), 2);
  EXPECT_EQ(w.parallel().zero(), 3);
  EXPECT_EQ(w.parallel().cp_kind(), proto::Parallel::ALL_GATHER);
  EXPECT_EQ(w.training().framework(), proto::Training::FSDP);
  EXPECT_EQ(w.training().seq(), 8192);
  EXPECT_EQ(w.training().micro_batch(), 1);
  EXPECT_EQ(w.training().global_batch(), 128);
  EXPECT_EQ(w.training().recompute(), proto::Training::FULL);
  EXPECT_EQ(w.training().optimizer(), proto::Training::ADAM);
  EXPECT_TRUE(w.training().compiled());
  EXPECT_TRUE(w.training().fused_projections());
  EXPECT_THAT(LeftOutOf(w), ElementsAre("distributed.dp_size is not given: 8 nodes of 8 devices, dp=32"));
}

TEST(ForeignAutomodel, ExpertsWithCopiesAndBackends) {
  const proto::Workload w = ReadText(kExperts, {});
  EXPECT_EQ(w.model().preset(), "nemotron-3-ultra");
  EXPECT_EQ(w.model().mtp(), 2);
  EXPECT_EQ(w.parallel().dp(), 128);
  EXPECT_EQ(w.parallel().copies(), 2);
  EXPECT_EQ(w.parallel().ep(), 64);
  EXPECT_EQ(w.parallel().dispatcher(), proto::Parallel::HYBRID);
  EXPECT_EQ(w.training().attention(), proto::Training::FLASH);
  EXPECT_TRUE(w.training().fused_loss());
  EXPECT_FALSE(w.training().has_fused_projections());
  EXPECT_THAT(
      LeftOutOf(w),
      ElementsAre("model.mtp_use_repeated_layer=true: each layer of multi-token prediction has its own "
                  "weights",
                  "loss_fn: only the loss is fused, and its logits are kept"));
  const proto::Workload pipeline =
      ReadText(absl::StrReplaceAll(kExperts, {{"  ep_size: 64",
                                               "  pp_size: 2\n  ep_size: 64\n  pipeline: {pp_schedule: "
                                               "zbv, pp_microbatch_size: 1}"}}),
               {});
  EXPECT_EQ(pipeline.parallel().pp(), 2);
  EXPECT_EQ(pipeline.parallel().layout(), "balanced");
  EXPECT_THAT(LeftOutOf(pipeline), ::testing::Contains("pp_schedule=zbv: 1f1b is used"));
}

TEST(ForeignAutomodel, Adapters) {
  const std::string lora = absl::StrCat(kDense, "peft:\n  dim: 16\n  alpha: 32\n  match_all_linear: true\n");
  const proto::Workload w = ReadText(lora, {});
  EXPECT_EQ(w.training().lora(), 16);
  EXPECT_EQ(w.training().lora_on(), proto::Training::ALL);
}

TEST(ForeignAutomodel, RefusesBadValues) {
  EXPECT_EQ(ErrorOf(absl::StrReplaceAll(kDense, {{"strategy: fsdp2", "strategy: fsdp3"}}), {}),
            "run.conf: distributed.strategy is \"fsdp3\"; expected fsdp2, megatron_fsdp or ddp");
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(kDense, {{"tp_size: 1", "tp_size: 99999"}}), {}),
              HasSubstr("expected sizes from 1 to 32768"));
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(kExperts, {{"hybridep", "pigeons"}}), {}),
              HasSubstr("model.backend.dispatcher is \"pigeons\"; expected "));
}

}  // namespace
}  // namespace chakra::foreign::CHAKRA_FILE
