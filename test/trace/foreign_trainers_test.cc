// Files of trainers that are built on HuggingFace's as workloads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test/trace/foreign_testing.h"
#include "trace/foreign/model_ids.h"
#include "trace/generate/presets.h"
#include "trace/generate/resolve.h"
#include "trace/generate/workload.h"
#include "trace/generate/write.h"

namespace chakra::foreign::CHAKRA_FILE {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kNotPacked[] = "packing is off: each sequence has all tokens of cutoff_len";

Beside Ranks(int64_t dp = 8) {
  Beside out;
  out.given.mutable_parallel()->set_dp(dp);
  return out;
}

// ---- TrainingArguments ----

constexpr char kArguments[] = R"({
  "model_name_or_path": "meta-llama/Llama-3.1-8B", "output_dir": "out", "per_device_train_batch_size": 4,
  "gradient_accumulation_steps": 2, "bf16": true, "learning_rate": 2e-5, "logging_steps": 10, "seed": 42,
  "block_size": 2048, "save_strategy": "no"})";

std::string Arguments(const std::string& more) {
  return absl::StrReplaceAll(kArguments, {{"\"seed\": 42", absl::StrCat("\"seed\": 42, ", more)}});
}

TEST(ForeignTrainers, TrainingArgumentsAreDataParallel) {
  const proto::Workload w = ReadText(kArguments, Ranks());
  EXPECT_EQ(w.model().preset(), "llama3-8b");
  EXPECT_EQ(w.training().micro_batch(), 4);
  EXPECT_EQ(w.training().accumulation(), 2);
  EXPECT_EQ(w.training().seq(), 2048);
  EXPECT_EQ(w.training().dtype(), proto::Training::BF16);
  EXPECT_EQ(w.training().recompute(), proto::Training::NONE);
  EXPECT_EQ(w.training().optimizer(), proto::Training::ADAMW);
  EXPECT_EQ(w.training().framework(), proto::Training::DDP);
  EXPECT_FALSE(w.training().compiled());
  EXPECT_FALSE(w.training().fused_loss());
  EXPECT_THAT(LeftOutOf(w), IsEmpty());
  // Defaults of transformers.
  const proto::Workload none = ReadText("output_dir: out\ngradient_accumulation_steps: 1\n", WithModel());
  EXPECT_EQ(none.training().micro_batch(), 8);
  EXPECT_EQ(none.training().dtype(), proto::Training::FP32);
  Beside alone;
  EXPECT_THAT(
      LeftOutOf(ReadText(kArguments, alone)),
      ElementsAre(
          "the number of ranks is unknown: dp is 1; --parallel dp=N says how many ranks share the batch"));
}

TEST(ForeignTrainers, TrainingArgumentsSayHowAStepComputes) {
  const proto::Workload w =
      ReadText(Arguments(R"("gradient_checkpointing": true, "torch_compile": true, "use_liger_kernel": true,
                   "attn_implementation": "eager", "optim": "adamw_8bit", "ddp_bucket_cap_mb": 100,
                   "gradient_checkpointing_kwargs": {"use_reentrant": false}, "neftune_noise_alpha": 5)"),
               Ranks());
  EXPECT_EQ(w.training().recompute(), proto::Training::FULL);
  EXPECT_TRUE(w.training().compiled());
  EXPECT_TRUE(w.training().fused_loss());
  EXPECT_EQ(w.training().attention(), proto::Training::MATH);
  EXPECT_TRUE(w.parallel().overlap_grad());  // DistributedDataParallel does
  EXPECT_THAT(LeftOutOf(w),
              ElementsAre("optim=adamw_8bit: adamw with fp32 averages is used",
                          "use_liger_kernel=true: only the loss is fused, and its logits are kept",
                          "ddp_bucket_cap_mb=100: buckets have 25 MiB", "neftune_noise_alpha=5"));
  EXPECT_EQ(ReadText(Arguments(R"("optim": "sgd")"), Ranks()).training().optimizer(), proto::Training::SGD);
  const std::string none = absl::StrReplaceAll(kArguments, {{"\"bf16\": true, ", ""}});
  EXPECT_THAT(
      LeftOutOf(ReadText(absl::StrReplaceAll(none, {{"\"seed\"", "\"tf32\": true, \"seed\""}}), Ranks())),
      ElementsAre("tf32=true: GEMMs are those of fp32"));
  const proto::Workload half =
      ReadText(absl::StrReplaceAll(none, {{"\"seed\"", "\"torch_dtype\": \"bfloat16\", \"seed\""}}), Ranks());
  EXPECT_EQ(half.training().dtype(), proto::Training::BF16);
  EXPECT_THAT(LeftOutOf(half),
              ElementsAre("torch_dtype=bfloat16: weights and averages have fp32, as with mixed precision"));
}

TEST(ForeignTrainers, TrainingArgumentsHaveFsdp) {
  const proto::Workload w = ReadText(Arguments(R"("fsdp": "full_shard auto_wrap", "fsdp_config": {
      "transformer_layer_cls_to_wrap": ["LlamaDecoderLayer"], "backward_prefetch": "backward_pre",
      "activation_checkpointing": true})"),
                                     Ranks());
  EXPECT_EQ(w.training().framework(), proto::Training::FSDP);
  EXPECT_EQ(w.parallel().zero(), 3);
  EXPECT_EQ(w.training().recompute(), proto::Training::FULL);
  EXPECT_EQ(w.training().grad_reduce_dtype(), proto::Training::BF16);
  EXPECT_THAT(LeftOutOf(w), IsEmpty());
  EXPECT_THAT(LeftOutOf(ReadText(Arguments(R"("fsdp": ["shard_grad_op", "offload"])"), Ranks())),
              ElementsAre("fsdp=[shard_grad_op,offload]: weights and optimizer stay on the device"));
  EXPECT_EQ(ReadText(Arguments(R"("fsdp": "no_shard")"), Ranks()).training().framework(),
            proto::Training::DDP);
  const ForeignFiles files("fsdp");
  files.Write("fsdp.json", R"({"fsdp_version": 2, "reshard_after_forward": false})");
  const proto::Workload kept =
      ReadText(Arguments(R"("fsdp": true, "fsdp_config": "fsdp.json")"), Ranks(), files.Path("a.json"));
  EXPECT_THAT(LeftOutOf(kept), IsEmpty());
  EXPECT_TRUE(kept.parallel().has_reshard_after_forward());
  EXPECT_FALSE(kept.parallel().reshard_after_forward());
  EXPECT_EQ(ErrorOf(Arguments(R"("fsdp": "full_shad")"), Ranks()),
            "run.conf: fsdp is \"full_shad\"; expected full_shard, shard_grad_op, hybrid_shard, "
            "hybrid_shard_zero2, no_shard, "
            "offload and auto_wrap");
}

constexpr char kAuto[] = R"({"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
  "gradient_accumulation_steps": "auto", "gradient_clipping": "auto", "bf16": {"enabled": "auto"},
  "fp16": {"enabled": "auto"}, "zero_optimization": {"stage": 3, "overlap_comm": false, "reduce_bucket_size": "auto"}})";

TEST(ForeignTrainers, ATrainerFillsInAuto) {
  const ForeignFiles files("auto");
  files.Write("ds/zero3.json", kAuto);
  const std::string named = Arguments(R"("deepspeed": "ds/zero3.json")");
  const proto::Workload w = ReadText(named, Ranks(), files.Path("a.json"));
  EXPECT_EQ(w.training().micro_batch(), 4);
  EXPECT_EQ(w.training().accumulation(), 2);
  EXPECT_FALSE(w.training().has_global_batch());
  EXPECT_EQ(w.training().dtype(), proto::Training::BF16);
  EXPECT_EQ(w.parallel().zero(), 3);
  EXPECT_FALSE(w.parallel().overlap_grad());
  EXPECT_EQ(w.training().framework(), proto::Training::MEGATRON);
  EXPECT_THAT(
      LeftOutOf(w),
      ElementsAre("zero3.json: zero_optimization.reduce_bucket_size=auto: the step has its own buckets"));
  // The folder of a file may be below that in which the trainer runs.
  EXPECT_EQ(ReadText(named, Ranks(), files.Path("ds/b.json")).parallel().zero(), 3);
  files.Write("ds/zero3.json", absl::StrReplaceAll(kAuto, {{"\"train_micro_batch_size_per_gpu\": \"auto\"",
                                                            "\"train_micro_batch_size_per_gpu\": 16"}}));
  EXPECT_THAT(ErrorOf(named, Ranks(), files.Path("a.json")),
              AllOf(HasSubstr("zero3.json: train_micro_batch_size_per_gpu is \"16\"; the trainer's file "),
                    HasSubstr("a.json says 4; expected the same in both, or \"auto\" here")));
  files.Write("ds/zero3.json",
              absl::StrReplaceAll(kAuto, {{"\"train_batch_size\": \"auto\"", "\"train_batch_size\": 100"}}));
  EXPECT_THAT(ErrorOf(named, Ranks(), files.Path("a.json")), HasSubstr("train_batch_size is \"100\""));
  EXPECT_THAT(ErrorOf(Arguments(R"("deepspeed": "ds/none.json")"), Ranks(), files.Path("a.json")),
              HasSubstr("a.json: deepspeed is \"ds/none.json\"; expected a file relative to this one"));
  // DeepSpeed's keys inside the trainer's file.
  const proto::Workload inside = ReadText(
      Arguments(
          R"("deepspeed": {"zero_optimization": {"stage": 2}, "train_micro_batch_size_per_gpu": "auto"})"),
      Ranks());
  EXPECT_EQ(inside.parallel().zero(), 2);
  EXPECT_EQ(inside.training().micro_batch(), 4);
  EXPECT_EQ(inside.training().dtype(), proto::Training::BF16);
}

TEST(ForeignTrainers, TrainingArgumentsHaveAMesh) {
  Beside alone;
  const proto::Workload w = ReadText(
      Arguments(
          R"("parallelism_config": {"tp_size": 2, "dp_shard_size": 4, "cp_size": 1}, "fsdp": "full_shard")"),
      alone);
  EXPECT_EQ(w.parallel().tp(), 2);
  EXPECT_FALSE(w.parallel().sp());
  EXPECT_EQ(w.parallel().dp(), 4);
  EXPECT_EQ(w.parallel().zero(), 3);
  EXPECT_THAT(LeftOutOf(w), IsEmpty());
}

// Steps can be generated for what files combine.
TEST(ForeignTrainers, EnginesRunAllKindsOfTraining) {
  const char* const kKinds[] = {
      R"("bf16": true)", R"("fp16": true)", R"("bf16": true, "gradient_checkpointing": true)",
      R"("bf16": true, "attn_implementation": "eager", "torch_compile": true)",
      R"("bf16": true, "use_peft": true, "lora_r": 8, "lora_target_modules": "all-linear")"};
  const char* const kEngines[] = {
      "",
      R"("fsdp": "full_shard", )",
      R"("deepspeed": {"zero_optimization": {"stage": 0}}, )",
      R"("deepspeed": {"zero_optimization": {"stage": 1, "offload_optimizer": {"device": "cpu"}}}, )",
      R"("deepspeed": {"zero_optimization": {"stage": 2}}, )",
      R"("deepspeed": {"zero_optimization": {"stage": 3}}, )"};
  for (const std::string kind : kKinds) {
    for (const std::string engine : kEngines) {
      proto::Workload w =
          ReadText(absl::StrCat("{", engine, kind, R"(, "model_name_or_path": "meta-llama/Llama-3.1-8B",
          "max_length": 256, "packing": true, "per_device_train_batch_size": 2, "gradient_accumulation_steps": 2})"),
                   Ranks(4));
      ASSERT_TRUE(generate::ExpandModel("", w.mutable_model()).ok());
      w.mutable_model()->set_layers(2);
      w.mutable_parallel()->set_dp(4);
      const auto plan = generate::ResolvePlan(w);
      ASSERT_TRUE(plan.ok()) << plan.status() << kind << engine;
      EXPECT_EQ(plan->micro_batches(), 2);
      EXPECT_TRUE(generate::BuildStep(*plan).ok()) << kind << engine;
    }
  }
}

// ---- models ----

TEST(ForeignTrainers, IdsHavePresets) {
  for (const std::string& preset : PresetsOfIds()) EXPECT_TRUE(generate::FindPreset(preset).ok()) << preset;
  EXPECT_EQ(PresetOf("meta-llama/Meta-Llama-3-8B"), "llama3-8b");
  EXPECT_EQ(PresetOf("qwen/qwen3-30b-a3b"), "qwen3-30b-a3b");
  EXPECT_EQ(PresetOf("llama3.1-70b"), "llama3-70b");
  EXPECT_EQ(PresetOf("someone/Meta-Llama-3-8B"), "");
}

TEST(ForeignTrainers, UnknownModelsNeedAnOption) {
  const std::string text =
      absl::StrReplaceAll(kArguments, {{"meta-llama/Llama-3.1-8B", "acme/Roadrunner-9B"}});
  EXPECT_EQ(ErrorOf(text, Ranks()),
            "run.conf: model_name_or_path is \"acme/Roadrunner-9B\"; no preset has this id, and no folder of "
            "this name has "
            "a config.json; expected the model by --model, as --model config.json with its sizes");
  EXPECT_EQ(ReadText(text, WithModel()).model().preset(), "");
}

// ---- the options of a command ----

// A launcher's file and a trainer's are one run; options take precedence.
TEST(ForeignTrainers, LauncherAndTrainerAreOneRun) {
  const ForeignFiles files("pair");
  generate::WorkloadOptions options;
  options.file =
      files.Write("accelerate.yaml",
                  "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\nnum_processes: 8\n"
                  "mixed_precision: bf16\ndeepspeed_config: {deepspeed_config_file: ds.json}\n");
  files.Write("ds.json", kAuto);
  options.model = files.Write("sft.json", kArguments);
  const auto w = generate::ReadWorkload(options);
  ASSERT_TRUE(w.ok()) << w.status();
  EXPECT_EQ(w->parallel().dp(), 8);
  EXPECT_EQ(w->parallel().zero(), 3);
  EXPECT_EQ(w->training().micro_batch(), 4);
  EXPECT_EQ(w->model().layers(), 32);
  const auto plan = generate::ResolvePlan(*w);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->training.global_batch, 64);

  generate::WorkloadOptions trainer;
  trainer.file = options.model;
  trainer.parallel = "dp=4";
  trainer.model = "llama2-7b";
  const auto other = generate::ReadWorkload(trainer);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(other->model().preset(), "llama2-7b");
  EXPECT_FALSE(other->model().has_kv_heads());  // of the file's model
  EXPECT_EQ(other->left_out_size(), 0);
  trainer.model = "layers=4";
  const auto shorter = generate::ReadWorkload(trainer);
  ASSERT_TRUE(shorter.ok()) << shorter.status();
  EXPECT_EQ(shorter->model().layers(), 4);
  EXPECT_EQ(shorter->model().preset(), "llama3-8b");

  generate::WorkloadOptions deepspeed;
  deepspeed.file = files.Path("ds.json");
  deepspeed.model = "llama3-8b";
  deepspeed.parallel = "dp=8";
  deepspeed.training = "seq=2048,dtype=bf16,micro_batch=2,accumulation=3";
  const auto filled = generate::ReadWorkload(deepspeed);
  ASSERT_TRUE(filled.ok()) << filled.status();
  EXPECT_EQ(generate::ResolvePlan(*filled)->training.global_batch, 48);
  EXPECT_THAT(generate::LeftOut(*filled), HasSubstr("ds.json: zero_optimization.reduce_bucket_size=auto"));
  deepspeed.training = "seq=2048,dtype=bf16,micro_batch=2,accumulation=3,global_batch=40";
  EXPECT_THAT(std::string(generate::ResolvePlan(*generate::ReadWorkload(deepspeed)).status().message()),
              HasSubstr("training.global_batch is 40; expected training.micro_batch * accumulation * "
                        "parallel.dp, 2 * 3 * 8 "
                        "= 48"));
}

// ---- LLaMA-Factory ----

constexpr char kLlamaFactory[] = R"(### model
model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
trust_remote_code: true
### method
stage: sft
do_train: true
finetuning_type: full
### dataset
dataset: identity,alpaca_en_demo
template: llama3
cutoff_len: 2048
max_samples: 1000
overwrite_cache: true
### train
per_device_train_batch_size: 1
gradient_accumulation_steps: 2
learning_rate: 1.0e-5
bf16: true
)";

std::string LlamaFactory(const std::string& more) { return absl::StrCat(kLlamaFactory, more); }

TEST(ForeignTrainers, LlamaFactoryRecomputesUnlessItIsTold) {
  const proto::Workload w = ReadText(kLlamaFactory, Ranks());
  EXPECT_EQ(w.model().preset(), "llama3-8b");
  EXPECT_EQ(w.training().seq(), 2048);
  EXPECT_EQ(w.training().recompute(), proto::Training::FULL);
  EXPECT_EQ(w.training().lora(), 0);
  EXPECT_THAT(LeftOutOf(w), ElementsAre(kNotPacked));
  const proto::Workload other = ReadText(
      LlamaFactory(
          "disable_gradient_checkpointing: true\npacking: true\nneat_packing: true\nflash_attn: disabled\n"
          "enable_liger_kernel: true\nuse_unsloth_gc: true\nquantization_bit: 4\n"),
      Ranks());
  EXPECT_EQ(other.training().recompute(), proto::Training::NONE);
  EXPECT_EQ(other.training().attention(), proto::Training::MATH);
  EXPECT_THAT(LeftOutOf(other),
              ElementsAre("neat_packing=true: attention covers the whole sequence",
                          "use_unsloth_gc=true: inputs of layers stay on the device",
                          "quantization_bit=4: frozen weights have 2 bytes",
                          "enable_liger_kernel=true: only the loss is fused, and its logits are kept"));
  EXPECT_THAT(
      LeftOutOf(ReadText(absl::StrReplaceAll(kLlamaFactory, {{"stage: sft", "stage: dpo"}}), Ranks())),
      Contains("stage=dpo: one forward and one backward pass of the model are the step"));
}

TEST(ForeignTrainers, LlamaFactoryHasAdapters) {
  const auto lora = [](const std::string& more) {
    return ReadText(
        absl::StrCat(absl::StrReplaceAll(kLlamaFactory, {{"finetuning_type: full", "finetuning_type: lora"}}),
                     more),
        Ranks());
  };
  const proto::Workload w = lora("lora_rank: 64\nlora_target: all\nlora_alpha: 128\nlora_dropout: 0.1\n");
  EXPECT_EQ(w.training().lora(), 64);
  EXPECT_EQ(w.training().lora_on(), proto::Training::ALL);
  EXPECT_DOUBLE_EQ(w.training().lora_dropout(), 0.1);
  EXPECT_THAT(LeftOutOf(w), ElementsAre(kNotPacked));
  EXPECT_EQ(lora("").training().lora(), 8);  // default
  EXPECT_EQ(lora("").training().lora_on(), proto::Training::ALL);
  const proto::Workload some = lora("lora_target: q_proj,v_proj\n");
  EXPECT_EQ(some.training().lora_on(), proto::Training::ATTENTION);
  EXPECT_THAT(LeftOutOf(some),
              ElementsAre(kNotPacked, "lora_target=q_proj,v_proj: all GEMMs of attention have adapters"));
  EXPECT_THAT(LeftOutOf(lora("lora_target: q_proj,k_proj,v_proj,o_proj\n")), ElementsAre(kNotPacked));
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(kLlamaFactory, {{": full", ": half"}}), Ranks()),
              HasSubstr("finetuning_type is \"half\"; expected full, lora, freeze or oft"));
}

// The public example, with the file that it names by a path from the root of the project.
TEST(ForeignTrainers, ReadsThePublishedLlamaFactoryExample) {
  const std::string example = PublishedFile("hf/llama3_full_sft.yaml");
  if (example.empty()) GTEST_SKIP() << "no " << CHAKRA_SHARED_DATA;
  const ForeignFiles files("factory");
  files.Write("examples/deepspeed/ds_z3_config.json", PublishedFile("deepspeed/ds_z3_config.json"));
  files.Write("examples/train_full/llama3_full_sft.yaml", example);
  const proto::Workload w =
      ReadText(example, Ranks(), files.Path("examples/train_full/llama3_full_sft.yaml"));
  EXPECT_EQ(w.parallel().zero(), 3);
  EXPECT_EQ(w.training().accumulation(), 2);
  EXPECT_EQ(w.training().dtype(), proto::Training::BF16);
  EXPECT_THAT(
      LeftOutOf(w),
      ElementsAre(
          "ds_z3_config.json: zero_optimization.reduce_bucket_size=auto: the step has its own buckets",
          "ds_z3_config.json: zero_optimization.stage3_prefetch_bucket_size=auto: weights are gathered one "
          "layer at a time",
          "ds_z3_config.json: zero_optimization.stage3_param_persistence_threshold=auto: small weights are "
          "shared too",
          "ds_z3_config.json: zero_optimization.stage3_max_live_parameters=1e9: two layers at most are whole",
          "ds_z3_config.json: zero_optimization.stage3_max_reuse_distance=1e9: weights are gathered for each "
          "pass",
          "ds_z3_config.json: zero_optimization.sub_group_size=1e9: the optimizer updates all weights at "
          "once",
          kNotPacked));
}

// ---- axolotl ----

constexpr char kAxolotl[] = R"(base_model: NousResearch/Meta-Llama-3.1-8B
datasets:
  - path: tatsu-lab/alpaca
    type: alpaca
val_set_size: 0.05
output_dir: ./out
sequence_len: 4096
sample_packing: true
micro_batch_size: 2
gradient_accumulation_steps: 4
num_epochs: 1
optimizer: adamw_torch_fused
lr_scheduler: cosine
learning_rate: 2e-5
bf16: auto
tf32: false
gradient_checkpointing: true
flash_attention: true
warmup_ratio: 0.1
special_tokens:
  pad_token: x
)";

TEST(ForeignTrainers, AxolotlHasItsOwnNames) {
  const proto::Workload w = ReadText(kAxolotl, Ranks());
  EXPECT_EQ(w.model().preset(), "llama3-8b");
  EXPECT_EQ(w.training().micro_batch(), 2);
  EXPECT_EQ(w.training().accumulation(), 4);
  EXPECT_EQ(w.training().seq(), 4096);
  EXPECT_EQ(w.training().dtype(), proto::Training::BF16);
  EXPECT_EQ(w.training().recompute(), proto::Training::FULL);
  EXPECT_THAT(LeftOutOf(w), ElementsAre("sample_packing=true: attention covers the whole sequence"));
  Beside alone;
  const proto::Workload mesh = ReadText(absl::StrCat(kAxolotl, R"(adapter: qlora
lora_r: 32
lora_alpha: 16
lora_dropout: 0.05
lora_target_linear: true
load_in_4bit: true
fp8: true
context_parallel_size: 2
tensor_parallel_size: 4
dp_shard_size: 2
dp_replicate_size: 2
cut_cross_entropy: true
fsdp_version: 2
fsdp_config:
  offload_params: true
  reshard_after_forward: true
  auto_wrap_policy: TRANSFORMER_BASED_WRAP
  transformer_layer_cls_to_wrap: LlamaDecoderLayer
)"),
                                        alone);
  EXPECT_EQ(mesh.training().lora(), 32);
  EXPECT_EQ(mesh.training().lora_on(), proto::Training::ALL);
  EXPECT_EQ(mesh.training().dtype(), proto::Training::FP8);
  EXPECT_EQ(mesh.parallel().cp(), 2);
  EXPECT_EQ(mesh.parallel().tp(), 4);
  EXPECT_EQ(mesh.parallel().dp(), 4);
  EXPECT_EQ(mesh.parallel().copies(), 2);
  EXPECT_EQ(mesh.training().framework(), proto::Training::FSDP);
  EXPECT_THAT(LeftOutOf(mesh),
              ElementsAre("sample_packing=true: attention covers the whole sequence",
                          "cut_cross_entropy=true: only the loss is fused, and its logits are kept",
                          "load_in_4bit=true: frozen weights have 2 bytes",
                          "fsdp_config.offload_params=true: weights and optimizer stay on the device"));
  EXPECT_THAT(
      LeftOutOf(ReadText(absl::StrReplaceAll(kAxolotl, {{"gradient_checkpointing: true",
                                                         "gradient_checkpointing: offload\nrl: dpo"}}),
                         Ranks())),
      ElementsAre("sample_packing=true: attention covers the whole sequence",
                  "gradient_checkpointing=offload: inputs of layers stay on the device",
                  "rl=dpo: one forward and one backward pass of the model are the step"));
}

// ---- TRL ----

TEST(ForeignTrainers, TrlRecomputesByDefault) {
  const std::string text = R"(
model_name_or_path: Qwen/Qwen3-32B
dataset_name: trl-lib/Capybara
max_length: 2048
packing: true
per_device_train_batch_size: 2
gradient_accumulation_steps: 8
use_peft: true
lora_r: 32
lora_alpha: 16
lora_target_modules: all-linear
attn_implementation: kernels-community/flash-attn2
output_dir: out
)";
  const proto::Workload w = ReadText(text, Ranks());
  EXPECT_EQ(w.model().preset(), "qwen3-32b");
  EXPECT_EQ(w.training().seq(), 2048);
  EXPECT_EQ(w.training().recompute(), proto::Training::FULL);
  EXPECT_EQ(w.training().dtype(), proto::Training::BF16);
  EXPECT_EQ(w.training().lora(), 32);
  EXPECT_DOUBLE_EQ(w.training().lora_dropout(), 0.05);
  EXPECT_THAT(LeftOutOf(w), ElementsAre("packing=true: attention covers the whole sequence",
                                        "attn_implementation=kernels-community/flash-attn2: flash is used"));
  const proto::Workload off = ReadText(
      absl::StrReplaceAll(
          text, {{"use_peft: true", "use_peft: false"}, {"packing: true", "gradient_checkpointing: false"}}),
      Ranks());
  EXPECT_EQ(off.training().lora(), 0);
  EXPECT_EQ(off.training().recompute(), proto::Training::NONE);
  EXPECT_THAT(LeftOutOf(off), Contains("packing is off: each sequence has all tokens"));
}

TEST(ForeignTrainers, ReadsThePublishedHandbook) {
  const std::string handbook = PublishedFile("hf/zephyr_sft_config_full.yaml");
  if (handbook.empty()) GTEST_SKIP() << "no " << CHAKRA_SHARED_DATA;
  const proto::Workload w = ReadText(handbook, WithModel());
  EXPECT_EQ(w.training().micro_batch(), 16);
  EXPECT_EQ(w.training().seq(), 2048);
  EXPECT_EQ(w.training().recompute(), proto::Training::FULL);
  EXPECT_THAT(LeftOutOf(w),
              ElementsAre("packing is off: each sequence has all tokens",
                          "torch_dtype=bfloat16: weights and averages have fp32, as with mixed precision"));
}

}  // namespace
}  // namespace chakra::foreign::CHAKRA_FILE
