// Files of DeepSpeed and accelerate as workloads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test/folders.h"
#include "test/trace/foreign_testing.h"
#include "trace/generate/resolve.h"
#include "trace/generate/workload.h"

namespace chakra::foreign::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kZero2[] = R"({
  "train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4,
  "gradient_clipping": 1.0, "steps_per_print": 10, "bf16": {"enabled": true},
  "optimizer": {"type": "AdamW", "params": {"lr": 3e-5, "betas": [0.9, 0.95]}},
  "zero_optimization": {"stage": 2, "overlap_comm": true, "reduce_scatter": true, "contiguous_gradients": true}
})";

std::string Zero2(const std::string& from, const std::string& to) {
  const std::string text = absl::StrReplaceAll(kZero2, {{from, to}});
  EXPECT_NE(text, kZero2) << from;
  return text;
}

TEST(ForeignLaunchers, DeepSpeedIsAWholeStepWithAModel) {
  const proto::Workload w = ReadText(kZero2);
  EXPECT_EQ(w.parallel().dp(), 8);
  EXPECT_EQ(w.parallel().zero(), 2);
  EXPECT_TRUE(w.parallel().overlap_grad());
  EXPECT_EQ(w.training().micro_batch(), 2);
  EXPECT_EQ(w.training().accumulation(), 4);
  EXPECT_EQ(w.training().global_batch(), 64);
  EXPECT_EQ(w.training().dtype(), proto::Training::BF16);
  EXPECT_EQ(w.training().grad_reduce_dtype(), proto::Training::BF16);
  EXPECT_EQ(w.training().optimizer(), proto::Training::ADAMW);
  EXPECT_EQ(w.training().framework(), proto::Training::MEGATRON);
  EXPECT_FALSE(w.training().compiled());
  EXPECT_THAT(LeftOutOf(w), IsEmpty());
  EXPECT_EQ(w.left_out_of(), "run.conf");
}

// dp follows from the three sizes, or is checked against them.
TEST(ForeignLaunchers, ABatchIsTheProductOfItsFactors) {
  Beside free = WithModel();
  free.given.clear_parallel();
  EXPECT_EQ(ReadText(kZero2, free).parallel().dp(), 8);
  EXPECT_EQ(ErrorOf(kZero2, WithModel(4)),
            "run.conf: train_batch_size is \"64\"; expected train_micro_batch_size_per_gpu * "
            "gradient_accumulation_steps * ranks of data parallelism, 2 * 4 * 4 = 32");
  EXPECT_EQ(ErrorOf(Zero2("64", "60"), free),
            "run.conf: train_batch_size is \"60\"; expected train_micro_batch_size_per_gpu * "
            "gradient_accumulation_steps * ranks of data parallelism, 2 * 4 * a whole number");
  // Two sizes give the third.
  const auto batches = [](const std::string& text) {
    proto::Workload w = ReadText(text);
    w.mutable_parallel()->set_dp(8);
    w.mutable_training()->set_seq(128);
    w.mutable_model()->set_preset("llama3-8b");
    EXPECT_TRUE(generate::ExpandModel("", w.mutable_model()).ok());
    const auto plan = generate::ResolvePlan(w);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? absl::StrCat(plan->training.micro_batch, " * ", plan->micro_batches()) : "";
  };
  EXPECT_EQ(batches(kZero2), "2 * 4");
  EXPECT_EQ(batches(Zero2("\"train_batch_size\": 64,", "")), "2 * 4");
  EXPECT_EQ(batches(Zero2(", \"gradient_accumulation_steps\": 4", "")), "2 * 4");
  EXPECT_EQ(batches(Zero2("\"train_micro_batch_size_per_gpu\": 2,", "")), "2 * 4");
  EXPECT_EQ(batches(Zero2("\"train_micro_batch_size_per_gpu\": 2, \"gradient_accumulation_steps\": 4,", "")),
            "8 * 1");
  EXPECT_THAT(ErrorOf(Zero2("\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 2,", "")),
              HasSubstr("train_batch_size; expected it or train_micro_batch_size_per_gpu"));
}

TEST(ForeignLaunchers, AutoNeedsATrainerOrAnOption) {
  constexpr absl::string_view kTrainer = "or a trainer's file that names this one (key \"deepspeed\")";
  const std::string micro =
      Zero2("\"train_micro_batch_size_per_gpu\": 2", "\"train_micro_batch_size_per_gpu\": \"auto\"");
  EXPECT_EQ(ErrorOf(micro),
            absl::StrCat("run.conf: train_micro_batch_size_per_gpu is \"auto\"; a trainer fills it in; "
                         "expected a number, --training micro_batch=N, ",
                         kTrainer));
  EXPECT_THAT(
      ErrorOf(Zero2("\"gradient_accumulation_steps\": 4", "\"gradient_accumulation_steps\": \"auto\"")),
      HasSubstr(
          "gradient_accumulation_steps is \"auto\"; a trainer fills it in; expected a number, --training "
          "accumulation=N, "));
  const std::string dtype = Zero2("{\"enabled\": true}", "{\"enabled\": \"auto\"}");
  EXPECT_EQ(ErrorOf(dtype),
            absl::StrCat("run.conf: bf16.enabled is \"auto\"; a trainer fills it in; expected true, false, "
                         "--training dtype=bf16, ",
                         kTrainer));
  Beside options = WithModel();
  options.given.mutable_training()->set_micro_batch(2);
  options.given.mutable_training()->set_dtype(proto::Training::FP16);
  EXPECT_EQ(ReadText(micro, options).training().micro_batch(), 2);
  EXPECT_EQ(ReadText(dtype, options).training().dtype(), proto::Training::FP16);
  options.given.mutable_training()->set_dtype(proto::Training::BF16);
  EXPECT_EQ(ReadText(dtype, options).training().dtype(), proto::Training::BF16);
}

TEST(ForeignLaunchers, DeepSpeedOffloadsWhatAStepCan) {
  const auto offload = [](const std::string& zero) {
    return ReadText(
        absl::StrCat(R"({"train_micro_batch_size_per_gpu": 1, "fp16": {"enabled": true, "loss_scale": 0},
        "zero_optimization": )",
                     zero, "}"));
  };
  const proto::Workload two =
      offload(R"({"stage": 2, "offload_optimizer": {"device": "cpu", "pin_memory": true}})");
  EXPECT_EQ(two.training().offload(), "optimizer");
  EXPECT_EQ(two.training().dtype(), proto::Training::FP16);
  EXPECT_FALSE(two.training().has_grad_reduce_dtype());
  EXPECT_FALSE(two.parallel().overlap_grad());
  EXPECT_THAT(LeftOutOf(two), IsEmpty());
  const proto::Workload part =
      offload(R"({"stage": 1, "offload_optimizer": {"device": "cpu", "ratio": 0.3}})");
  EXPECT_DOUBLE_EQ(part.training().offload_share(), 0.3);
  const proto::Workload three =
      offload(R"({"stage": 3, "offload_optimizer": {"device": "nvme", "nvme_path": "/a"},
      "offload_param": {"device": "cpu"}, "sub_group_size": 1e9, "zero_hpz_partition_size": 8,
      "zero_quantized_weights": true, "stage3_prefetch_bucket_size": 5e7, "unheard_of": 3})");
  EXPECT_TRUE(three.parallel().overlap_grad());
  EXPECT_THAT(
      LeftOutOf(three),
      ElementsAre(
          "zero_optimization.stage3_prefetch_bucket_size=5e7: weights are gathered one layer at a time",
          "zero_optimization.sub_group_size=1e9: the optimizer updates all weights at once",
          "zero_optimization.zero_hpz_partition_size=8: weights are gathered from all ranks of dp",
          "zero_optimization.zero_quantized_weights=true: weights are gathered in the dtype of GEMMs",
          "zero_optimization.offload_optimizer.device=nvme: with zero=3 the optimizer stays on the device",
          "zero_optimization.offload_param.device=cpu: weights stay on the device",
          "zero_optimization.unheard_of=3"));
}

TEST(ForeignLaunchers, DeepSpeedHasItsOwnParallelism) {
  const proto::Workload w = ReadText(R"({"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true},
      "communication_data_type": "fp32", "optimizer": {"type": "Lion"}, "tensor_parallel": {"autotp_size": 4},
      "sequence_parallel_size": 2, "zero_optimization": {"stage": 1}})");
  EXPECT_EQ(w.parallel().tp(), 4);
  EXPECT_FALSE(w.parallel().sp());
  EXPECT_EQ(w.parallel().cp(), 2);
  EXPECT_EQ(w.parallel().cp_kind(), proto::Parallel::ULYSSES);
  EXPECT_FALSE(w.training().has_grad_reduce_dtype());
  EXPECT_THAT(LeftOutOf(w), ElementsAre("optimizer.type=Lion: adamw is used"));
}

TEST(ForeignLaunchers, RefusesBadDeepSpeed) {
  const struct {
    const char *text, *error;
  } kCases[] = {
      {R"({"zero_optimization": {"stage": 4}, "train_micro_batch_size_per_gpu": 1})",
       "run.conf: zero_optimization.stage is \"4\"; expected a whole number from 0 to 3; the nearest is 3"},
      {R"({"zero_optimization": {"stage": "two"}, "train_micro_batch_size_per_gpu": 1})",
       "run.conf: zero_optimization.stage is \"two\"; expected a whole number"},
      {R"({"train_micro_batch_size_per_gpu": 0})",
       "run.conf: train_micro_batch_size_per_gpu is \"0\"; expected at least 1"},
      {R"({"train_micro_batch_size_per_gpu": 1, "fp16": {"enabled": true}, "bf16": {"enabled": true}})",
       "run.conf: fp16.enabled is \"true\"; bf16.enabled is true too; expected one of them"},
      {R"({"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"offload_optimizer": {"device": "disk"}}})",
       "offload_optimizer.device is \"disk\"; expected none, cpu or nvme"},
      {R"({"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"overlap_comm": "maybe"}})",
       "overlap_comm is \"maybe\"; expected true or false"},
      {R"({"train_micro_batch_size_per_gpu": 1, )", "run.conf"},
  };
  for (const auto& c : kCases) EXPECT_THAT(ErrorOf(c.text), HasSubstr(c.error)) << c.text;
  Beside alone;
  EXPECT_EQ(ErrorOf(kZero2, alone),
            "run.conf: DeepSpeed's JSON has no model; expected --model too, as --model llama3-8b or --model "
            "config.json");
}

constexpr char kAccelerate[] = R"(compute_environment: LOCAL_MACHINE
debug: false
distributed_type: FSDP
downcast_bf16: 'no'
fsdp_config:
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_cpu_ram_efficient_loading: true
  fsdp_offload_params: false
  fsdp_reshard_after_forward: true
  fsdp_state_dict_type: FULL_STATE_DICT
  fsdp_version: 2
machine_rank: 0
main_training_function: main
mixed_precision: bf16
num_machines: 1
num_processes: 8
same_network: true
tpu_env: []
use_cpu: false
)";

Beside ModelAlone() {
  Beside out;
  out.has_model = true;
  return out;
}

TEST(ForeignLaunchers, AccelerateGivesRanksAndFsdp) {
  const proto::Workload w = ReadText(kAccelerate, ModelAlone());
  EXPECT_EQ(w.parallel().dp(), 8);
  EXPECT_EQ(w.parallel().zero(), 3);
  EXPECT_EQ(w.training().framework(), proto::Training::FSDP);
  EXPECT_EQ(w.training().grad_reduce_dtype(), proto::Training::BF16);
  EXPECT_THAT(LeftOutOf(w), IsEmpty());
  const proto::Workload other =
      ReadText(absl::StrReplaceAll(kAccelerate, {{"offload_params: false", "offload_params: true"},
                                                 {"after_forward: true", "after_forward: false"},
                                                 {"fsdp_version: 2", "fsdp_activation_checkpointing: true"}}),
               ModelAlone());
  EXPECT_EQ(other.training().recompute(), proto::Training::FULL);
  EXPECT_TRUE(other.parallel().has_reshard_after_forward());
  EXPECT_FALSE(other.parallel().reshard_after_forward());
  EXPECT_THAT(LeftOutOf(other),
              ElementsAre("fsdp_config.fsdp_offload_params=true: weights and optimizer stay on the device"));
}

TEST(ForeignLaunchers, AccelerateHasAMesh) {
  const std::string mesh =
      absl::StrCat(absl::StrReplaceAll(kAccelerate, {{"num_processes: 8", "num_processes: 32"}}),
                   R"(parallelism_config:
  parallelism_config_dp_replicate_size: 2
  parallelism_config_dp_shard_size: 2
  parallelism_config_tp_size: 2
  parallelism_config_cp_size: 4
  parallelism_config_cp_comm_strategy: allgather
)");
  const proto::Workload w = ReadText(mesh, ModelAlone());
  EXPECT_EQ(w.parallel().dp(), 4);
  EXPECT_EQ(w.parallel().tp(), 2);
  EXPECT_EQ(w.parallel().cp(), 4);
  EXPECT_EQ(w.parallel().cp_kind(), proto::Parallel::ALL_GATHER);
  EXPECT_EQ(w.parallel().copies(), 2);
  EXPECT_THAT(LeftOutOf(w), IsEmpty());
  EXPECT_EQ(ErrorOf(absl::StrReplaceAll(mesh, {{"num_processes: 32", "num_processes: 64"}}), ModelAlone()),
            "run.conf: num_processes is \"64\"; expected the product of the sizes of parallelism_config, 32");
  Beside tensor = ModelAlone();
  tensor.given.mutable_parallel()->set_tp(3);
  EXPECT_EQ(ErrorOf(kAccelerate, tensor),
            "run.conf: num_processes is \"8\"; expected a multiple of tp * cp * pp, 3");
}

TEST(ForeignLaunchers, AccelerateStartsDeepSpeedAndOthers) {
  const auto with = [](const std::string& kind, const std::string& more) {
    return absl::StrCat(
        "compute_environment: LOCAL_MACHINE\nnum_processes: 16\nmixed_precision: bf16\ndistributed_type: ",
        kind, "\n", more);
  };
  const proto::Workload zero = ReadText(with("DEEPSPEED", R"(deepspeed_config:
  gradient_accumulation_steps: 4
  gradient_clipping: 1.0
  offload_optimizer_device: cpu
  offload_param_device: none
  zero3_init_flag: false
  zero_stage: 2
)"),
                                        ModelAlone());
  EXPECT_EQ(zero.parallel().zero(), 2);
  EXPECT_EQ(zero.parallel().dp(), 16);
  EXPECT_EQ(zero.training().accumulation(), 4);
  EXPECT_EQ(zero.training().offload(), "optimizer");
  EXPECT_EQ(zero.training().dtype(), proto::Training::BF16);
  EXPECT_THAT(LeftOutOf(zero), IsEmpty());

  const ForeignFiles files("accelerate");
  files.Write("zero/two.json", Zero2("64", "128"));
  const std::string named = with("DEEPSPEED", "deepspeed_config:\n  deepspeed_config_file: zero/two.json\n");
  EXPECT_EQ(ReadText(named, ModelAlone(), files.Path("a.yaml")).training().global_batch(), 128);
  files.Write("zero/two.json", kZero2);
  EXPECT_THAT(ErrorOf(named, ModelAlone(), files.Path("a.yaml")),
              HasSubstr("two.json: train_batch_size is \"64\"; expected train_micro_batch_size_per_gpu * "
                        "gradient_accumulation_steps * ranks of data parallelism, 2 * 4 * 16 = 128"));
  EXPECT_THAT(
      ErrorOf(with("DEEPSPEED", "deepspeed_config:\n  deepspeed_config_file: none.json\n"), ModelAlone(),
              files.Path("a.yaml")),
      HasSubstr(
          "a.yaml: deepspeed_config.deepspeed_config_file is \"none.json\"; expected a file relative to this "
          "one, or to a folder above it"));

  const proto::Workload megatron = ReadText(with("MEGATRON_LM", R"(megatron_lm_config:
  megatron_lm_gradient_clipping: 1.0
  megatron_lm_num_micro_batches: 8
  megatron_lm_pp_degree: 2
  megatron_lm_recompute_activations: true
  megatron_lm_sequence_parallelism: false
  megatron_lm_tp_degree: 4
  megatron_lm_use_distributed_optimizer: true
)"),
                                            ModelAlone());
  EXPECT_EQ(megatron.parallel().dp(), 2);
  EXPECT_EQ(megatron.parallel().zero(), 1);
  EXPECT_EQ(megatron.training().recompute(), proto::Training::SELECTIVE);
  EXPECT_THAT(LeftOutOf(megatron), IsEmpty());
  EXPECT_EQ(ReadText(with("MULTI_GPU", ""), ModelAlone()).training().framework(), proto::Training::DDP);
  EXPECT_THAT(LeftOutOf(ReadText(with("XLA", ""), ModelAlone())),
              ElementsAre("distributed_type=XLA: ranks of dp share the batch, as on GPUs"));
}

// Real files, LLaMA-Factory's examples.
TEST(ForeignLaunchers, ReadsPublishedFiles) {
  if (PublishedFile("deepspeed/ds_z2_config.json").empty()) GTEST_SKIP() << "no " << CHAKRA_SHARED_DATA;
  Beside options = WithModel();
  options.given.mutable_training()->set_micro_batch(1);
  options.given.mutable_training()->set_accumulation(1);
  options.given.mutable_training()->set_dtype(proto::Training::BF16);
  const auto read = [&](const std::string& name) { return ReadText(PublishedFile(name), options, name); };
  const proto::Workload two = read("deepspeed/ds_z2_config.json");
  EXPECT_EQ(two.parallel().zero(), 2);
  EXPECT_THAT(
      LeftOutOf(two),
      ElementsAre("zero_optimization.reduce_bucket_size=500000000.0: the step has its own buckets",
                  "zero_optimization.allgather_bucket_size=500000000.0: the step has its own buckets"));
  EXPECT_EQ(read("deepspeed/ds_z3_config.json").parallel().zero(), 3);
  const proto::Workload offload = read("deepspeed/ds_z3_offload_config.json");
  EXPECT_THAT(LeftOutOf(offload),
              ::testing::Contains("zero_optimization.offload_param.device=cpu: weights stay on the device"));
  EXPECT_THAT(LeftOutOf(read("hf/accelerate_fsdp2_config.yaml")), IsEmpty());
}

}  // namespace
}  // namespace chakra::foreign::CHAKRA_FILE
