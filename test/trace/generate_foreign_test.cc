// Configuration files of frameworks as workloads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/foreign/foreign.h"
#include "trace/generate/counts.h"
#include "trace/generate/importer.h"
#include "trace/generate/resolve.h"
#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"
#include "trace/import/reader.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using foreign::ReadForeign;

proto::Workload Read(const std::string& text) {
  auto workload = ReadForeign(text, "run.conf");
  EXPECT_TRUE(workload.ok()) << workload.status();
  if (!workload.ok()) return {};
  EXPECT_TRUE(ExpandModel("", workload->mutable_model()).ok());
  return *std::move(workload);
}

StepPlan Plan(const proto::Workload& workload) {
  const auto plan = ResolvePlan(workload);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : StepPlan();
}

std::string LeftOutOf(const proto::Workload& workload) { return absl::StrJoin(workload.left_out(), "; "); }

constexpr char kGpt[] = R"(#!/bin/bash
TP=8
ARGS=(
  --nproc_per_node 8
  --nnodes 16
  --num-layers 96 --hidden-size 12288 --num-attention-heads 96
  --seq-length 2048 --max-position-embeddings 2048 --vocab-size 51200
)
TRAIN="--micro-batch-size 1 --global-batch-size=1536 --lr 6.0e-5 --bf16 \
  --tensor-model-parallel-size ${TP} --sequence-parallel --pipeline-model-parallel-size 8
  --num-layers-per-virtual-pipeline-stage 3 --use-distributed-optimizer --overlap-grad-reduce --tp-comm-overlap"
)";

TEST(GenerateForeign, ReadsMegatronArguments) {
  const proto::Workload w = Read(kGpt);
  const StepPlan plan = Plan(w);
  EXPECT_NEAR(static_cast<double>(CountParameters(plan.model).total) / 1e9, 174.6, 0.1);  // with positions
  EXPECT_EQ(plan.split.tp, 8);
  EXPECT_TRUE(plan.split.sp);
  EXPECT_EQ(plan.split.pp, 8);
  EXPECT_EQ(plan.split.vpp, 4);
  EXPECT_EQ(plan.split.dp, 2);
  EXPECT_EQ(plan.split.zero, 1);
  EXPECT_TRUE(plan.split.overlap_grad);
  EXPECT_EQ(plan.micro_batches(), 768);
  EXPECT_EQ(plan.training.dtype, proto::Training::BF16);
  EXPECT_TRUE(plan.split.overlap_tensor);  // tp_comm_overlap
  EXPECT_EQ(LeftOutOf(w), "");
}

TEST(GenerateForeign, ReadsMegatronWindowsAndRecomputation) {
  const StepPlan plan = Plan(Read(R"(
--num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 2048 --max-position-embeddings 2048
--vocab-size 1024 --micro-batch-size 1 --global-batch-size 8 --bf16 --position-embedding-type rope --swiglu
--window-size (127,0) --window-attn-skip-freq 4
--recompute-granularity full --recompute-method block --recompute-num-layers 3 --pipeline-model-parallel-size 2
)"));
  EXPECT_EQ(plan.model.window, 128);  // 127 keys before its own
  const auto window = [&](int64_t layer) {
    const int64_t keys = plan.model.SpecOf(layer).window;
    return keys > 0 ? keys : 2048;
  };
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(window(i), i == 3 || i == 7 ? 2048 : 128) << i;
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(plan.Recomputes(i), i % 4 < 3) << i;
}

// As words of a script or as a list of a recipe; the error names modules that no layer has.
TEST(GenerateForeign, ReadsMegatronRecomputedModules) {
  constexpr char kModel[] = R"(
--num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 2048 --max-position-embeddings 2048
--vocab-size 1024 --micro-batch-size 1 --global-batch-size 8 --bf16 --position-embedding-type rope --swiglu
--num-experts 8 --moe-router-topk 2 --expert-tensor-parallel-size 1 --recompute-granularity selective
)";
  const auto modules = [&](const char* more) { return Plan(Read(absl::StrCat(kModel, more))).training; };
  EXPECT_EQ(NamesOf(modules("").modules), "core_attn");
  EXPECT_EQ(modules("").recompute, proto::Training::SELECTIVE);
  EXPECT_EQ(NamesOf(modules("--recompute-modules moe_act layernorm --swiglu").modules), "layernorm+moe_act");
  const proto::Workload w = Read(absl::StrCat(kModel, "--recompute-modules mlp moe"));
  EXPECT_EQ(NamesOf(Plan(w).training.modules), "moe");
  EXPECT_THAT(LeftOutOf(w), HasSubstr("recompute_modules=mlp: no layer has it"));
  EXPECT_EQ(modules("--recompute-modules shared_experts").recompute, proto::Training::NONE);
  const proto::Workload recipe = Read(R"(
model:
  tensor_model_parallel_size: 1
  num_layers: 4
  hidden_size: 512
  num_attention_heads: 8
  vocab_size: 1024
  seq_length: 512
  recompute_granularity: selective
  recompute_modules: [core_attn, layernorm]
)");
  EXPECT_EQ(NamesOf(Plan(recipe).training.modules), "core_attn+layernorm");
}

TEST(GenerateForeign, ReadsMegatronExpertsAndLayout) {
  const proto::Workload w = Read(
      "--world-size 2048 --num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads "
      "128 "
      "--multi-latent-attention --q-lora-rank 1536 --kv-lora-rank 512 --qk-head-dim 128 "
      "--qk-pos-emb-head-dim 64 "
      "--v-head-dim 128 --num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048 "
      "--moe-shared-expert-intermediate-size 2048 --moe-layer-freq \"([0]*3+[1]*58)\" --swiglu "
      "--normalization RMSNorm "
      "--disable-bias-linear --position-embedding-type rope --untie-embeddings-and-output-weights "
      "--vocab-size 129280 --seq-length 4096 --global-batch-size 16384 --pipeline-model-parallel-size 16 "
      "--expert-model-parallel-size 64 --expert-tensor-parallel-size 1 --bf16 --use-distributed-optimizer "
      "--pipeline-model-parallel-layout \"Et*3|(tt|)*29|L\" --moe-token-dispatcher-type flex "
      "--moe-router-num-groups 8 --moe-router-group-topk 4 --overlap-moe-expert-parallel-comm");
  const StepPlan plan = Plan(w);
  WorkloadOptions preset;
  preset.model = "deepseek-v3";
  EXPECT_EQ(CountParameters(plan.model).total,
            CountParameters(*ResolveModel(ReadWorkload(preset)->model())).total);
  EXPECT_EQ(plan.pieces.size(), 32u);
  EXPECT_EQ(plan.split.vpp, 2);
  EXPECT_EQ(plan.split.dp, 128);
  EXPECT_EQ(plan.split.ep, 64);
  EXPECT_TRUE(plan.split.deep);
  EXPECT_TRUE(plan.split.overlap_expert);
  EXPECT_EQ(plan.model.expert_groups, 8);
  EXPECT_EQ(plan.model.top_groups, 4);
}

TEST(GenerateForeign, ReadsRecipes) {
  const proto::Workload w = Read(R"(
model:
  num_layers: 80
  hidden_size: 8192
  ffn_hidden_size: 28672
  num_attention_heads: 64
  num_query_groups: 8
  gated_linear_unit: true
  normalization: RMSNorm
  add_bias_linear: false
  share_embeddings_and_output_weights: false
  position_embedding_type: rope
  vocab_size: 128256
  seq_length: 8192
  tensor_model_parallel_size: 4
  pipeline_model_parallel_size: 4
  virtual_pipeline_model_parallel_size: 5
  context_parallel_size: 2
  cuda_graph_impl: local
train: {global_batch_size: 128, micro_batch_size: 1}
ddp: {use_distributed_optimizer: true, overlap_grad_reduce: true, overlap_param_gather: true}
optimizer: {optimizer: adam, lr: 3.0e-4}
mixed_precision: bf16_mixed
)");
  const StepPlan plan = Plan(w);
  EXPECT_NEAR(static_cast<double>(CountParameters(plan.model).total) / 1e9, 70.554, 0.001);
  EXPECT_EQ(plan.split.tp, 4);
  EXPECT_TRUE(plan.split.sp);  // with tp, unless the recipe says otherwise
  EXPECT_EQ(plan.split.vpp, 5);
  EXPECT_EQ(plan.split.cp, 2);
  EXPECT_TRUE(plan.split.overlap_param);
  EXPECT_EQ(plan.training.dtype, proto::Training::BF16);
  EXPECT_TRUE(plan.training.graphs);
  EXPECT_THAT(LeftOutOf(w), HasSubstr("dp is 1"));
}

// Keys that a recipe of gpt-oss adds, and gradients in bf16 under each of their names.
TEST(GenerateForeign, ReadsClampsAndNarrowGradients) {
  constexpr char kRecipe[] = R"(
model:
  num_layers: 4
  hidden_size: 512
  num_attention_heads: 8
  vocab_size: 1024
  seq_length: 64
  gated_linear_unit: true
  tensor_model_parallel_size: 1
)";
  constexpr char kExpertKeys[] =
      "  num_moe_experts: 4\n  moe_router_topk: 2\n  activation_func_clamp_value: 7.0\n  softmax_type: "
      "learnable\n";
  const proto::Workload experts = Read(
      absl::StrCat(kRecipe, kExpertKeys, "ddp: {grad_reduce_in_fp32: false}\nmixed_precision: bf16_mixed\n"));
  EXPECT_TRUE(experts.model().clamp());
  EXPECT_TRUE(experts.model().sinks());
  EXPECT_EQ(experts.training().grad_reduce_dtype(), proto::Training::BF16);
  EXPECT_TRUE(Plan(experts).training.narrow_gradients);
  EXPECT_THAT(LeftOutOf(experts), testing::Not(HasSubstr("clamp")));
  const proto::Workload dense =
      Read(absl::StrCat(kRecipe, "  activation_func_clamp_value: 7.0\nddp: {grad_reduce_in_fp32: true}\n"));
  EXPECT_FALSE(dense.model().clamp());
  EXPECT_THAT(LeftOutOf(dense), HasSubstr("activation_func_clamp_value=7.0: no layer has experts"));
  EXPECT_FALSE(dense.training().has_grad_reduce_dtype());
  const auto arguments = [](const std::string& more) {
    return Read(
        absl::StrCat("--num-layers 4 --hidden-size 512 --num-attention-heads 8 --vocab-size 1024 "
                     "--seq-length 64 --micro-batch-size 1 --bf16 ",
                     more));
  };
  EXPECT_TRUE(arguments("--grad-reduce-in-bf16").training().has_grad_reduce_dtype());
  EXPECT_FALSE(arguments("--accumulate-allreduce-grads-in-fp32").training().has_grad_reduce_dtype());
  EXPECT_FALSE(arguments("").training().has_grad_reduce_dtype());
}

TEST(GenerateForeign, ReadsNewAndOldTorchtitanKeys) {
  const StepPlan now = Plan(Read(R"(
[model]
name = "llama3"
flavor = "8B"
[training]
local_batch_size = 2
seq_len = 8192
[parallelism]
data_parallel_shard_degree = 8  # all
tensor_parallel_degree = 1
[activation_checkpoint]
mode = "full"
[compile]
enable = true
components = ["model", "loss"]
)"));
  EXPECT_EQ(now.model.layers, 32);
  EXPECT_EQ(now.split.dp, 8);
  EXPECT_EQ(now.split.zero, 3);
  EXPECT_EQ(now.training.micro_batch, 2);
  EXPECT_EQ(now.micro_batches(), 1);
  EXPECT_EQ(now.training.recompute, proto::Training::FULL);
  EXPECT_TRUE(now.training.compiled);
  const proto::Workload w = Read(R"(
[model]
name = "llama3"
flavor = "405B"
[training]
batch_size = 32
seq_len = 8192
tensor_parallel_degree = 8
data_parallel_shard_degree = 8
[experimental]
pipeline_parallel_degree = 8
pipeline_parallel_schedule = "Interleaved1F1B"
enable_async_tensor_parallel = true
[activation_checkpoint]
mode = "selective"
)");
  const StepPlan old = Plan(w);
  EXPECT_EQ(old.split.pp, 8);
  EXPECT_EQ(old.split.vpp, 2);
  EXPECT_EQ(old.training.micro_batch, 4);  // as many micro-batches as stages
  EXPECT_EQ(old.micro_batches(), 8);
  EXPECT_TRUE(old.split.overlap_tensor);
  EXPECT_FALSE(old.training.compiled);
  EXPECT_EQ(old.training.recompute, proto::Training::FULL);  // every second layer
  EXPECT_FALSE(old.Recomputes(0));
  EXPECT_TRUE(old.Recomputes(1));
}

TEST(GenerateForeign, ReadsTorchtitansShardsAndCheckpoints) {
  const auto read = [](const char* parallelism, const char* checkpoint) {
    return Read(absl::StrCat(
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 8\n",
        "seq_len = 4096\n[parallelism]\n", parallelism, "[activation_checkpoint]\n", checkpoint));
  };
  const proto::Workload w = read(
      "data_parallel_shard_degree = 8\ndata_parallel_replicate_degree = 4\n"
      "fsdp_reshard_after_forward = \"never\"\n",
      "mode = \"selective\"\nselective_ac_option = \"op\"\n");
  const StepPlan plan = Plan(w);
  EXPECT_EQ(plan.split.dp, 32);
  EXPECT_EQ(plan.split.copies, 4);
  EXPECT_EQ(plan.split.sharers(false), 8);
  EXPECT_FALSE(plan.reshards());
  EXPECT_TRUE(plan.training.recomputes_operators());
  EXPECT_TRUE(plan.training.recomputes_gemms);
  EXPECT_FALSE(plan.training.fused_projections);
  const StepPlan ddp =
      Plan(read("data_parallel_shard_degree = 1\ndata_parallel_replicate_degree = 4\n", "mode = \"none\"\n"));
  EXPECT_EQ(ddp.training.framework, proto::Training::DDP);
  EXPECT_EQ(ddp.split.dp, 4);
  EXPECT_EQ(ddp.split.zero, 0);
}

// Settings of newer versions: those that a step has, and those that are named.
TEST(GenerateForeign, ReadsNewerMegatronKeys) {
  constexpr char kArguments[] =
      "--num-layers 4 --hidden-size 512 --num-attention-heads 8 --vocab-size 1024 --seq-length 64 --bf16 "
      "--world-size 8 --position-embedding-type rope ";
  const auto with = [&](const char* more) { return Read(absl::StrCat(kArguments, more)); };
  EXPECT_EQ(LeftOutOf(with("")), "");
  const proto::Workload fp8 = with("--fp8-format hybrid --fp8-recipe mxfp8 --fp8-param-gather");
  EXPECT_EQ(fp8.training().dtype(), proto::Training::FP8);
  EXPECT_EQ(fp8.training().fp8(), proto::Training::MXFP8);
  EXPECT_EQ(LeftOutOf(fp8), "fp8_param_gather=true: weights are gathered in bf16");
  EXPECT_EQ(with("--fp8-format e4m3 --fp8-recipe delayed").training().fp8(), proto::Training::DELAYED);
  EXPECT_EQ(LeftOutOf(with("--fp8-format e4m3 --fp8-recipe blockwise")),
            "fp8_recipe=blockwise: scales are those of whole tensors");
  const proto::Workload graphs =
      with("--num-experts 8 --cuda-graph-impl transformer_engine --cuda-graph-scope moe");
  EXPECT_TRUE(graphs.training().cuda_graphs());
  EXPECT_TRUE(graphs.training().graphed_experts());
  EXPECT_EQ(LeftOutOf(graphs),
            "cuda_graph_scope=moe: attention, routers and MLPs without experts are graphs");
  EXPECT_FALSE(with("--cuda-graph-impl none").training().cuda_graphs());
  const proto::Workload fp4 =
      with("--fp4-format e2m1 --fp4-recipe nvfp4 --fp4-param-gather --first-last-layers-bf16");
  EXPECT_EQ(fp4.training().dtype(), proto::Training::NVFP4);
  EXPECT_EQ(fp4.training().bf16_layers(), "0+3");
  EXPECT_EQ(LeftOutOf(fp4), "fp4_param_gather=true: weights are gathered in bf16");
  EXPECT_EQ(with("--fp8-format e4m3 --first-last-layers-bf16 --num-layers-at-start-in-bf16 0 "
                 "--num-layers-at-end-in-bf16 3")
                .training()
                .bf16_layers(),
            "1-3");
  EXPECT_EQ(with("--first-last-layers-bf16").training().bf16_layers(), "");
  EXPECT_EQ(with("--fp4-format e2m1 --num-experts 8 --mtp-num-layers 1 --keep-mtp-spec-in-bf16")
                .training()
                .bf16_layers(),
            "4");
  // Families and precisions that are not generated.
  EXPECT_EQ(LeftOutOf(with("--hybrid-layer-pattern M-M*- --fp4-format e2m1 --moe-latent-size 64 "
                           "--use-precision-aware-optimizer")),
            "hybrid_layer_pattern=M-M*-; moe_latent_size=64; use_precision_aware_optimizer=true");
  EXPECT_EQ(LeftOutOf(with("--tensor-model-parallel-size 2 --tp-comm-overlap")),
            "tp_comm_overlap=true: it needs sequence_parallel");
}

TEST(GenerateForeign, ReadsNewerRecipeKeys) {
  constexpr char kRecipe[] = R"(
model:
  num_layers: 4
  hidden_size: 512
  num_attention_heads: 8
  vocab_size: 1024
  seq_length: 64
  tensor_model_parallel_size: 1
  cross_entropy_loss_fusion: false
logger: {log_interval: 10}
rng: {seed: 1234}
)";
  const proto::Workload lora = Read(absl::StrCat(kRecipe, R"(
mixed_precision: bf16_with_fp8_delayed_scaling_mixed
peft: {_target_: megatron.bridge.peft.lora.LoRA, dim: 16, alpha: 32, dropout: 0.1, target_modules: [linear_qkv]}
)"));
  EXPECT_EQ(lora.training().lora(), 16);
  EXPECT_EQ(lora.training().lora_on(), proto::Training::ATTENTION);
  EXPECT_DOUBLE_EQ(lora.training().lora_dropout(), 0.1);
  EXPECT_EQ(lora.training().fp8(), proto::Training::DELAYED);
  EXPECT_FALSE(lora.training().fused_loss());
  EXPECT_EQ(LeftOutOf(lora),
            "peft.target_modules=[linear_qkv]: all GEMMs of attention have adapters; the number of ranks is "
            "unknown: dp "
            "is 1; --parallel dp=N says how many ranks share the batch");
  const proto::Workload fp4 = Read(absl::StrCat(kRecipe, "mixed_precision: bf16_with_nvfp4_mixed\n"));
  EXPECT_EQ(fp4.training().dtype(), proto::Training::NVFP4);
  EXPECT_EQ(fp4.training().bf16_layers(), "");
  const proto::Workload last = Read(absl::StrCat(
      kRecipe, "mixed_precision: nemotron_3_super_bf16_with_nvfp4_mixed\nnum_layers_at_end_in_bf16: 2\n"));
  EXPECT_EQ(last.training().dtype(), proto::Training::NVFP4);
  EXPECT_EQ(last.training().bf16_layers(), "2-3");
}

TEST(GenerateForeign, ReadsTorchtitanConverters) {
  const auto with = [](const char* converters) {
    return Read(absl::StrCat("[model]\nname = \"llama3\"\nflavor = \"8B\"\nconverters = ", converters,
                             "\n[training]\nseq_len = 64\n"))
        .training();
  };
  for (const char* mx : {"[\"mx\"]", "[\"quantize.linear.mx\"]"}) {
    EXPECT_EQ(with(mx).dtype(), proto::Training::FP8) << mx;
    EXPECT_EQ(with(mx).fp8(), proto::Training::MXFP8) << mx;
  }
  EXPECT_EQ(with("[\"nvfp4\"]").dtype(), proto::Training::NVFP4);
  EXPECT_EQ(with("[]").dtype(), proto::Training::BF16);
}

TEST(GenerateForeign, ReadsNewerTorchtitanKeys) {
  const proto::Workload w = Read(R"(
[model]
name = "qwen3"
flavor = "30B-A3B"
[training]
enable_cpu_offload = true
[parallelism]
data_parallel_shard_degree = 8
expert_parallel_degree = 8
expert_parallel_comm_backend = "standard"
[compile]
enable = true
components = ["model", "loss"]
[optimizer]
lr = 3e-4
early_step_in_backward = true
[activation_checkpoint]
mode = "none"
)");
  EXPECT_TRUE(w.training().compiled());
  EXPECT_EQ(w.parallel().dispatcher(), proto::Parallel::ALLTOALL);
  EXPECT_EQ(LeftOutOf(w),
            "training.enable_cpu_offload=true: weights and optimizer stay on the device; "
            "optimizer.early_step_in_backward=true: the optimizer runs after the backward pass");
  // What newer versions print of a configuration in Python.
  const StepPlan json = Plan(Read(R"({"model": {"name": "llama3", "flavor": "8B"},
      "training": {"local_batch_size": 2, "seq_len": 8192}, "parallelism": {"data_parallel_shard_degree": 8},
      "activation_checkpoint": {"mode": "full"}})"));
  EXPECT_EQ(json.split.dp, 8);
  EXPECT_EQ(json.training.micro_batch, 2);
}

// The layers of flavors are those of their presets.
TEST(GenerateForeign, CountsTheStagesOfFlavors) {
  for (const char* flavor : {"8B", "70B", "405B"}) {
    const proto::Workload w = Read(absl::StrCat(
        "[model]\nname = \"llama3\"\nflavor = \"", flavor,
        "\"\n[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_schedule = \"Interleaved1F1B\"\n"
        "pipeline_parallel_layers_per_stage = 1\ndata_parallel_shard_degree = 1\n"));
    EXPECT_EQ(w.parallel().vpp(), (w.model().layers() + 2) / 2) << flavor;
  }
}

TEST(GenerateForeign, RefusesBadFiles) {
  const struct {
    const char *text, *error;
  } kCases[] = {
      {"--num-layers twelve --hidden-size 64", "run.conf: num_layers is \"twelve\"; expected a whole number"},
      {"--num-layers 12 --hidden-size 64",
       "run.conf: num_attention_heads is missing; expected a whole number"},
      {"model:\n  tensor_model_parallel_size: [1\n", "run.conf: line"},
      {"[model]\nname = \"llama3\n", "run.conf: line 2"},
      {"[model]\nname = \"llama9\"\nflavor = \"8B\"\n",
       "model.flavor is \"8B\"; the sizes of model.name \"llama9\" are in torchtitan's code; known: llama3 "
       "8B"},
      {"[model]\nname=\"llama3\"\nflavor=\"8B\"\n[parallelism]\npipeline_parallel_degree = 2\n"
       "pipeline_parallel_schedule = \"ZBVZeroBubble\"\n",
       "is \"ZBVZeroBubble\"; expected 1F1B, GPipe, Interleaved1F1B or DualPipeV"},
      {"--num-layers 12 --hidden-size 64 --num-attention-heads 4 --vocab-size 100 --seq-length 64 "
       "--world-size 6 "
       "--tensor-model-parallel-size 4",
       "expected tp * cp * pp to divide all ranks, 6"},
      {"neither",
       "run.conf: not a configuration of a known framework; expected NeMo Automodel's YAML, DeepSpeed's "
       "JSON, accelerate's YAML, "},
  };
  for (const auto& c : kCases) {
    const auto workload = ReadForeign(c.text, "run.conf");
    ASSERT_FALSE(workload.ok()) << c.text;
    EXPECT_THAT(std::string(workload.status().message()), HasSubstr(c.error)) << c.text;
  }
}

// A framework's file is read as a file of a workload, with options, and as a trace, with a warning.
TEST(GenerateForeign, ReadsAsAWorkloadAndAsATrace) {
  const std::string path = (std::filesystem::path(::testing::TempDir()) / "foreign_run.sh").string();
  std::ofstream(path) << "torchrun --nproc_per_node 2 --nnodes 1 train.py --num-layers 2 --hidden-size 64 "
                         "--num-attention-heads 4 --vocab-size 100 --seq-length 64 --micro-batch-size 1 "
                         "--global-batch-size 2 --tensor-model-parallel-size 2 --tp-comm-overlap\n";
  WorkloadOptions options;
  options.file = path;
  options.training = "seq=128";
  const auto workload = ReadWorkload(options);
  ASSERT_TRUE(workload.ok()) << workload.status();
  EXPECT_EQ(workload->training().seq(), 128);
  EXPECT_EQ(workload->parallel().tp(), 2);
  WorkloadOptions model;
  model.model = path + ":layers=4";
  const auto changed = ReadWorkload(model);
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(changed->model().layers(), 4);
  EXPECT_EQ(changed->parallel().tp(), 2);
  const auto traces = ReadTraceSet({path}, {});
  ASSERT_TRUE(traces.ok()) << traces.status();
  EXPECT_EQ(traces->ranks.size(), 2u);
  ASSERT_FALSE(traces->warnings.empty());
  EXPECT_THAT(traces->warnings[0], HasSubstr("tp_comm_overlap=true"));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
