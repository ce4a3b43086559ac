// axolotl's YAML (src/axolotl/utils/schemas/config.py).
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/foreign/engine.h"
#include "trace/foreign/format.h"
#include "trace/foreign/trainer.h"

namespace chakra::foreign {
namespace {

constexpr Row kAxolotlRows[] = {
    {"micro_batch_size", "number", "training.micro_batch"},
    {"sequence_len", "number", "training.seq"},
    {"sample_packing", "yes", "", "attention covers the whole sequence"},
    {"sample_packing", "no", "", "each sequence has all tokens of sequence_len"},
    {"pad_to_sequence_len", "yes", ""},
    {"gradient_checkpointing", "true", "training.recompute=full"},
    {"gradient_checkpointing", "false", "training.recompute=none"},
    {"gradient_checkpointing", "offload|offload_disk|unsloth", "training.recompute=full",
     "inputs of layers stay on the device"},
    {"activation_offloading", "yes|true|legacy|disk", "", "activations stay on the device"},
    {"activation_offloading", "no|false", ""},
    {"optimizer", "adamw_torch|adamw_torch_fused|adamw_hf|adamw_apex_fused", "training.optimizer=adamw"},
    {"optimizer", "sgd", "training.optimizer=sgd"},
    {"optimizer", "adagrad", "training.optimizer=adagrad"},
    {"optimizer", "muon", "training.optimizer=muon"},
    {"optimizer", "any", "training.optimizer=adamw", "adamw with fp32 averages is used"},
    {"flash_attention", "yes", ""},
    {"flash_attention", "no", ""},
    {"sdp_attention", "yes", ""},
    {"xformers_attention", "yes", ""},
    {"eager_attention", "yes", "training.attention=math"},
    {"flex_attention", "yes", "", "flash is used"},
    {"context_parallel_size|sequence_parallel_degree", "1", ""},
    {"context_parallel_size|sequence_parallel_degree", "number", "parallel.cp"},
    {"expert_parallel_size", "number", "parallel.ep"},
    {"liger_rope", "yes", "", "kernels are those of PyTorch"},
    {"liger_rms_norm", "yes", "", "kernels are those of PyTorch"},
    {"liger_glu_activation", "yes", "", "kernels are those of PyTorch"},
    {"liger_layer_norm", "yes", "", "kernels are those of PyTorch"},
    {"liger_cross_entropy", "yes", "training.fused_loss=yes"},
    {"liger_fused_linear_cross_entropy", "yes", "training.fused_loss=yes",
     "only the loss is fused, and its logits are kept"},
    {"cut_cross_entropy", "yes", "training.fused_loss=yes",
     "only the loss is fused, and its logits are kept"},
    {"torch_compile", "auto", "training.compiled=yes"},
    {"torch_compile", "yes", "training.compiled=yes"},
    {"torch_compile", "no", ""},
    {"rl", "any", "", "one forward and one backward pass of the model are the step"},
    {"bf16", "auto|full", "training.dtype=bf16"},
    {"bf16", "yes", "training.dtype=bf16"},
    {"bf16", "no", ""},
    {"fp8", "yes", "training.dtype=fp8"},  // after bf16, which such files have too
    {"lora_mlp_kernel", "yes", "", "kernels are those of PyTorch"},
    {"lora_qkv_kernel", "yes", "", "kernels are those of PyTorch"},
    {"lora_o_kernel", "yes", "", "kernels are those of PyTorch"},
    {"peft_use_dora", "yes", "", "adapters are LoRA's"},
    {"unfrozen_parameters", "any", "", "all weights are trained"},
};

constexpr const char* kHarmlessOfAxolotl[] = {"model_type",
                                              "tokenizer*",
                                              "is_*",
                                              "strict",
                                              "datasets",
                                              "test_datasets",
                                              "dataset_*",
                                              "val_set_size",
                                              "lora_alpha",
                                              "lora_model_dir",
                                              "lora_modules_to_save",
                                              "lora_fan_in_fan_out",
                                              "peft_use_rslora",
                                              "wandb_*",
                                              "mlflow_*",
                                              "comet_*",
                                              "swanlab_*",
                                              "num_epochs",
                                              "lr_scheduler",
                                              "cosine_*",
                                              "train_on_inputs",
                                              "early_stopping_*",
                                              "evals_per_epoch",
                                              "saves_per_epoch",
                                              "special_tokens.*",
                                              "tokens",
                                              "chat_template*",
                                              "plugins",
                                              "xformers_*",
                                              "gpu_memory_limit",
                                              "eval_sample_packing",
                                              "shuffle_merged_datasets",
                                              "sample_packing_*",
                                              "base_model_config",
                                              "revision_of_model",
                                              "resize_token_embeddings_*",
                                              "hf_use_auth_token",
                                              "loss_watchdog_*",
                                              "auto_resume_*",
                                              "local_rank",
                                              "s2_attention",
                                              "flash_attn_*",
                                              "curriculum_sampling",
                                              "remove_unused_columns",
                                              "deepspeed_*",
                                              "unfrozen_*",
                                              "added_tokens_overrides.*",
                                              "embeddings_skip_upcast",
                                              "skip_prepare_dataset",
                                              "type_of_model",
                                              "heads_k_stride",
                                              "ring_attn_func",
                                              "bnb_config_kwargs.*",
                                              "experimental_*",
                                              "use_tensorboard",
                                              "ddp"};

void MoreOfAxolotl(ForeignKeys& keys, proto::Workload* out) {
  if (!keys.Has("sample_packing"))
    keys.LeaveOut("sample_packing is off: each sequence has all tokens of sequence_len");
  const std::string kind = keys.Text("adapter").value_or("");
  const int64_t rank = keys.NumberOr("lora_r", 8);
  if (keys.FlagOr("lora_target_linear", false)) keys.Set("lora_target_modules", "all");
  if (kind == "lora" || kind == "qlora") {
    TakeAdapters(rank, "lora_target_modules", keys, out);
    TakeAdapterDropout("lora_dropout", 0, keys, out);
    if (kind == "qlora" && !keys.Has("load_in_4bit")) keys.LeaveOut("adapter", "frozen weights have 2 bytes");
  } else if (kind.empty()) {
    keys.Pass(std::initializer_list<const char*>{"lora_*"});
  } else {
    keys.Refuse("adapter", "expected lora or qlora");
  }
  // Sizes of the mesh. Without them, the run has any number of ranks.
  const int64_t tp = keys.NumberOr("tensor_parallel_size", 1), shards = keys.NumberOr("dp_shard_size", 0),
                copies = keys.NumberOr("dp_replicate_size", 0);
  if (tp < 1 || tp > 65536) return keys.Refuse("tensor_parallel_size", "expected 1 to 65536");
  if (tp > 1) TakeTensor(tp, out);
  if (shards > 65536 || copies > 64) return keys.Refuse("dp_shard_size", "expected at most 65536");
  if (shards > 0) out->mutable_parallel()->set_dp(shards * (copies > 0 ? copies : 1));
  if (shards > 1 && copies > 1) out->mutable_parallel()->set_copies(copies);
}

bool LooksLikeAxolotl(const Head& head) {
  const TopKeys& k = head.keys;
  return k.Has("base_model") &&
         (k.Has("sequence_len") || k.Has("micro_batch_size") || k.Has("adapter") || k.Has("datasets"));
}

absl::Status ReadAxolotl(const Source& source, proto::Workload* out) {
  return ReadTrainer(source,
                     {.rows = kAxolotlRows,
                      .harmless = kHarmlessOfAxolotl,
                      .model = "base_model",
                      .micro_batch = 1,
                      .more = MoreOfAxolotl},
                     out);
}

}  // namespace

const Format kAxolotl = {"axolotl's YAML", Role::kTrainer, LooksLikeAxolotl, ReadAxolotl};

}  // namespace chakra::foreign
