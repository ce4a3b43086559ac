// The arguments of HuggingFace's Trainer (transformers/training_args.py).
#include "trace/foreign/trainer.h"

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trace/base/status_macros.h"
#include "trace/foreign/engine.h"
#include "trace/foreign/model_ids.h"
#include "trace/foreign/text.h"

namespace chakra::foreign {
namespace {

using proto::Training;

constexpr Row kTrainerRows[] = {
    {"per_device_train_batch_size|per_gpu_train_batch_size", "number", "training.micro_batch"},
    {"gradient_accumulation_steps", "number", "training.accumulation"},
    {"auto_find_batch_size", "yes", "", "the given batch is used"},
    {"bf16|bfloat16", "yes", "training.dtype=bf16"},
    {"bf16|bfloat16", "auto|full", "training.dtype=bf16"},
    {"bf16|bfloat16", "no", ""},
    {"fp16|float16", "yes", "training.dtype=fp16"},
    {"fp16|float16", "no", ""},
    {"gradient_checkpointing", "yes", "training.recompute=full"},
    {"gradient_checkpointing", "no", "training.recompute=none"},
    {"optim", "adamw_torch|adamw_torch_fused|adamw_torch_xla|adamw_hf|adamw_apex_fused",
     "training.optimizer=adamw"},
    {"optim", "sgd", "training.optimizer=sgd"},
    {"optim", "adagrad", "training.optimizer=adagrad"},
    {"optim", "muon", "training.optimizer=muon"},
    {"optim", "any", "training.optimizer=adamw", "adamw with fp32 averages is used"},
    {"torch_compile", "yes", "training.compiled=yes"},
    {"torch_compile", "no", ""},
    {"torch_compile_backend", "inductor", "training.compiled=yes"},
    {"torch_compile_backend", "any", "training.compiled=yes", "inductor is used"},
    {"use_liger_kernel|use_liger|enable_liger_kernel", "yes", "training.fused_loss=yes",
     "only the loss is fused, and its logits are kept"},
    {"use_liger_kernel|use_liger|enable_liger_kernel", "no", ""},
    {"attn_implementation", "flash_attention_2|flash_attention_3|sdpa|kernels-community/flash-attn", ""},
    {"attn_implementation", "eager", "training.attention=math"},
    {"attn_implementation", "any", "", "flash is used"},
    {"ddp_bucket_cap_mb", "25", ""},
    {"ddp_bucket_cap_mb", "any", "", "buckets have 25 MiB"},
    {"use_cpu|no_cuda", "yes", "", "a device computes"},
    {"load_in_8bit", "yes", "", "frozen weights have 2 bytes"},
    {"load_in_8bit", "no", ""},
    {"load_in_4bit", "yes", "", "frozen weights have 2 bytes"},
    {"load_in_4bit", "no", ""},
};

// Keys that do not change a step: runs, data, logs, checkpoints, learning rates.
constexpr const char* kHarmlessOfTrainer[] = {"output_dir",
                                              "overwrite_output_dir",
                                              "do_train",
                                              "do_eval",
                                              "do_predict",
                                              "eval_*",
                                              "evaluation_strategy",
                                              "prediction_loss_only",
                                              "per_device_eval_batch_size",
                                              "per_gpu_eval_batch_size",
                                              "learning_rate",
                                              "weight_decay",
                                              "adam_*",
                                              "max_grad_norm",
                                              "num_train_epochs",
                                              "max_steps",
                                              "lr_scheduler_*",
                                              "warmup_*",
                                              "log_*",
                                              "logging_*",
                                              "save_*",
                                              "seed",
                                              "data_seed",
                                              "ddp_timeout",
                                              "ddp_find_unused_parameters",
                                              "ddp_broadcast_buffers",
                                              "ddp_backend",
                                              "dataloader_*",
                                              "past_index",
                                              "run_name",
                                              "disable_tqdm",
                                              "remove_unused_columns",
                                              "label_names",
                                              "load_best_model_at_end",
                                              "metric_for_best_model",
                                              "greater_is_better",
                                              "ignore_data_skip",
                                              "group_by_length",
                                              "length_column_name",
                                              "report_to",
                                              "skip_memory_metrics",
                                              "push_to_hub",
                                              "hub_*",
                                              "resume_from_checkpoint",
                                              "gradient_checkpointing_kwargs.*",
                                              "include_*",
                                              "full_determinism",
                                              "torch_empty_cache_steps",
                                              "optim_args",
                                              "use_legacy_prediction_loop",
                                              "model_revision",
                                              "trust_remote_code",
                                              "restore_callback_states_from_checkpoint",
                                              "local_rank",
                                              "tf32",
                                              "bf16_full_eval",
                                              "fp16_full_eval",
                                              "fp16_opt_level",
                                              "fp16_backend",
                                              "half_precision_backend",
                                              "average_tokens_across_devices",
                                              "torch_compile_mode",
                                              "liger_kernel_config.*",
                                              "accelerator_config.*",
                                              "use_mps_device",
                                              "debug",
                                              "project",
                                              "trackio_*",
                                              "batch_eval_metrics",
                                              "low_cpu_mem_usage",
                                              "tokenizer_*",
                                              "model_name",
                                              "_n_gpu",
                                              "ray_scope",
                                              "use_cache",
                                              "use_reentrant",
                                              "cache_dir",
                                              "hf_hub_token"};

class TrainerFile {
 public:
  TrainerFile(const Source& source, const Dialect& dialect, proto::Workload* out)
      : source_(source), dialect_(dialect), k_(source.name), out_(*out), t_(*out->mutable_training()) {}

  absl::Status Read() {
    RETURN_IF_ERROR(ReadTree(source_.content, "", nullptr, &k_));
    ApplyRows(dialect_.rows, "", k_, &out_);
    ApplyRows(kTrainerRows, "", k_, &out_);
    if (dialect_.more != nullptr) dialect_.more(k_, &out_);
    Defaults();
    TakeModelId(dialect_.model, source_, k_, &out_);
    if (k_.HasPrefix("parallelism_config.")) TakeMesh(k_, &out_);
    RETURN_IF_ERROR(k_.status());
    RETURN_IF_ERROR(Engine());
    // DeepSpeed and FSDP keep fp32 weights in any case.
    if (half_ && t_.framework() == Training::DDP && t_.lora() == 0)
      k_.LeaveOut("torch_dtype|dtype", "weights and averages have fp32, as with mixed precision");
    Muon();
    k_.Pass(dialect_.harmless);
    k_.NameTheRest(kHarmlessOfTrainer, &out_);
    return k_.status();
  }

 private:
  void Muon() {
    if (t_.optimizer() != Training::MUON) return;
    if (t_.lora() > 0 || t_.dtype() == Training::FP16) {
      t_.set_optimizer(Training::ADAMW);
      t_.clear_matrix_sharding();
      t_.clear_muon_nesterov();
      k_.LeaveOut(absl::StrCat("Muon: adamw is used with ", t_.lora() > 0 ? "LoRA" : "fp16"));
    } else if (t_.framework() == Training::FSDP) {
      k_.LeaveOut("Muon: ranks exchange matrices as in microsoft/dion");
    }
  }

  // Values of the trainer for keys that the file does not have.
  void Defaults() {
    if (!t_.has_micro_batch()) t_.set_micro_batch(dialect_.micro_batch);
    if (!t_.has_accumulation()) t_.set_accumulation(1);
    if (!t_.has_recompute() && dialect_.recomputes) t_.set_recompute(Training::FULL);
    if (!t_.has_optimizer()) t_.set_optimizer(Training::ADAMW);
    const std::string loaded = k_.Text("torch_dtype|dtype").value_or("");
    half_ = loaded == "bfloat16" || loaded == "bf16" || loaded == "float16" || loaded == "fp16";
    if (!t_.has_dtype()) {
      t_.set_dtype(!half_                           ? dialect_.bf16 ? Training::BF16 : Training::FP32
                   : absl::StartsWith(loaded, "bf") ? Training::BF16
                                                    : Training::FP16);
    }
    if (t_.dtype() == Training::FP32 && k_.FlagOr("tf32", false))
      k_.LeaveOut("tf32", "GEMMs are those of fp32");
    // Kernels of eager PyTorch.
    if (!t_.has_compiled()) t_.set_compiled(false);
    if (!t_.has_fused_loss()) t_.set_fused_loss(false);
  }

  Trainer AsTrainer() const {
    const proto::Parallel& given = source_.beside.given.parallel();
    return {source_.name, t_, given.has_dp() ? given.dp() : out_.parallel().dp()};
  }

  absl::Status Engine() {
    const bool inside = k_.HasPrefix("deepspeed.");
    const auto path = k_.Text("deepspeed");
    if (inside) {
      TakeDeepSpeed(k_, "deepspeed", AsTrainer(), &out_);
      return k_.status();
    }
    if (path.has_value()) return ReadLauncher(source_, "deepspeed", *path, AsTrainer(), &out_);
    if (!source_.beside.launcher.empty()) {
      const Source launcher = {"", "", source_.beside};
      return ReadLauncher(launcher, "file", source_.beside.launcher, AsTrainer(), &out_);
    }
    return Sharded();
  }

  // TrainingArguments' fsdp: words as "full_shard auto_wrap offload", or a flag.
  absl::Status Sharded() {
    const std::string words = k_.Text("fsdp").value_or("");
    const bool table = k_.HasPrefix("fsdp_config.") || k_.Has("fsdp_version");
    if ((words.empty() && !table) || words == "false" || words == "False") {
      if (t_.attention() == Training::MATH) out_.mutable_parallel()->set_overlap_grad(true);
      TakeDdp(&out_);
      return absl::OkStatus();
    }
    if (const auto path = k_.Text("fsdp_config")) {
      std::string content, name;
      RETURN_IF_ERROR(ReadNamed(source_, "fsdp_config", *path, &content, &name));
      RETURN_IF_ERROR(ReadTree(content, "fsdp_config", nullptr, &k_));
    }
    if (const auto version = k_.Text("fsdp_version")) k_.Set("fsdp_config.fsdp_version", *version);
    TakeFsdp(k_, "fsdp_config", &out_);
    for (const absl::string_view word : absl::StrSplit(words, absl::ByAnyChar("[]'\", "), absl::SkipEmpty()))
      RETURN_IF_ERROR(TakeWord(word));
    return k_.status();
  }

  absl::Status TakeWord(absl::string_view word) {
    if (word == "full_shard" || word == "auto_wrap" || word == "true" || word == "True")
      return absl::OkStatus();
    if (word == "shard_grad_op") {
      out_.mutable_parallel()->set_reshard_after_forward(false);
    } else if (word == "offload") {
      k_.LeaveOut("fsdp", "weights and optimizer stay on the device");
    } else if (word == "hybrid_shard" || word == "hybrid_shard_zero2") {
      k_.LeaveOut("fsdp", "all ranks of dp share one copy of the weights");
    } else if (word == "no_shard") {
      t_.clear_grad_reduce_dtype();
      TakeDdp(&out_);
    } else {
      k_.Refuse("fsdp",
                "expected full_shard, shard_grad_op, hybrid_shard, hybrid_shard_zero2, no_shard, offload and "
                "auto_wrap");
    }
    return k_.status();
  }

  const Source& source_;
  const Dialect& dialect_;
  ForeignKeys k_;
  bool half_ = false;  // weights are loaded with two bytes
  proto::Workload& out_;
  Training& t_;
};

}  // namespace

absl::Status ReadTrainer(const Source& source, const Dialect& dialect, proto::Workload* out) {
  return TrainerFile(source, dialect, out).Read();
}

void TakeAdapters(int64_t rank, absl::string_view targets, ForeignKeys& keys, proto::Workload* out) {
  if (rank < 1 || rank > 8192) return;
  Training& t = *out->mutable_training();
  t.set_lora(rank);
  const std::set<std::string> kAttention = {"q_proj", "k_proj", "v_proj", "o_proj"},
                              kMlp = {"gate_proj", "up_proj", "down_proj"};
  const std::string text = keys.Text(targets).value_or("");
  std::set<std::string> named, unknown;
  for (const absl::string_view one : absl::StrSplit(text, absl::ByAnyChar("[]'\", "), absl::SkipEmpty()))
    (kAttention.contains(std::string(one)) || kMlp.contains(std::string(one)) ? named : unknown).emplace(one);
  const bool all = text == "all" || text == "all-linear";
  bool mlp = all;
  for (const std::string& one : named) mlp = mlp || kMlp.contains(one);
  t.set_lora_on(mlp ? Training::ALL : Training::ATTENTION);
  const size_t most = kAttention.size() + (mlp ? kMlp.size() : 0);
  if (all || (named.size() == most && unknown.empty())) return;
  const absl::string_view instead =
      mlp ? "all GEMMs of attention and the MLP have adapters" : "all GEMMs of attention have adapters";
  if (text.empty()) {
    keys.LeaveOut(absl::StrCat(targets.substr(0, targets.find('|')), " is missing: ", instead));
  } else {
    keys.LeaveOut(targets, instead);
  }
}

void TakeAdapterDropout(absl::string_view names, double fallback, ForeignKeys& keys, proto::Workload* out) {
  const double dropout = keys.Share(names).value_or(fallback);
  if (dropout >= 1) return keys.Refuse(names, "expected less than 1");
  if (dropout > 0 && out->training().lora() > 0) out->mutable_training()->set_lora_dropout(dropout);
}

}  // namespace chakra::foreign
