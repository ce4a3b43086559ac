// LLaMA-Factory's YAML and JSON (src/llamafactory/hparams).
#include <string>

#include "absl/strings/match.h"
#include "trace/foreign/format.h"
#include "trace/foreign/trainer.h"

namespace chakra::foreign {
namespace {

constexpr Row kLlamaFactoryRows[] = {
    {"cutoff_len", "number", "training.seq"},
    {"stage", "sft|pt", ""},
    {"stage", "any", "", "one forward and one backward pass of the model are the step"},
    {"packing", "yes", ""},
    {"packing", "no", "", "each sequence has all tokens of cutoff_len"},
    {"neat_packing", "yes", "", "attention covers the whole sequence"},
    {"neat_packing", "no", ""},
    {"flash_attn", "auto|fa2|fa3|sdpa", ""},
    {"flash_attn", "disabled", "training.attention=math"},
    {"disable_gradient_checkpointing", "yes", "training.recompute=none"},
    {"disable_gradient_checkpointing", "no", "training.recompute=full"},
    {"use_unsloth_gc", "yes", "", "inputs of layers stay on the device"},
    {"use_unsloth_gc", "no", ""},
    {"use_unsloth", "yes", "", "kernels are those of PyTorch"},
    {"use_unsloth", "no", ""},
    {"pure_bf16", "yes", "training.dtype=bf16", "averages and the optimizer's weights have fp32"},
    {"pure_bf16", "no", ""},
    {"quantization_bit", "any", "", "frozen weights have 2 bytes"},
    {"shift_attn", "yes", "", "attention covers the whole sequence"},
    {"shift_attn", "no", ""},
    {"mixture_of_depths", "any", "", "all tokens pass all layers"},
    {"use_galore", "yes", "", "adamw is used"},
    {"use_badam", "yes", "", "adamw is used"},
    {"use_apollo", "yes", "", "adamw is used"},
    {"use_muon", "yes", "training.optimizer=muon training.muon_nesterov=yes"},
    {"use_muon", "no", ""},
    {"use_dora", "yes", "", "adapters are LoRA's"},
    {"use_dora", "no", ""},
};

constexpr const char* kHarmlessOfLlamaFactory[] = {"template",
                                                   "dataset",
                                                   "dataset_dir",
                                                   "media_dir",
                                                   "eval_dataset",
                                                   "max_samples",
                                                   "overwrite_cache",
                                                   "preprocessing_*",
                                                   "tokenized_path",
                                                   "val_size",
                                                   "plot_loss",
                                                   "train_on_prompt",
                                                   "mask_history",
                                                   "streaming",
                                                   "buffer_size",
                                                   "mix_strategy",
                                                   "interleave_probs",
                                                   "ignore_pad_token_for_loss",
                                                   "lora_alpha",
                                                   "use_rslora",
                                                   "loraplus_*",
                                                   "create_new_adapter",
                                                   "adapter_name_or_path",
                                                   "adapter_folder",
                                                   "quantization_method",
                                                   "quantization_type",
                                                   "double_quantization",
                                                   "upcast_layernorm",
                                                   "upcast_lmhead_output",
                                                   "resize_vocab",
                                                   "use_fast_tokenizer",
                                                   "split_special_tokens",
                                                   "new_special_tokens",
                                                   "add_tokens",
                                                   "rope_scaling",
                                                   "infer_*",
                                                   "export_*",
                                                   "compute_accuracy",
                                                   "predict_with_generate",
                                                   "use_swanlab",
                                                   "swanlab_*",
                                                   "freeze_vision_tower",
                                                   "freeze_multi_modal_projector",
                                                   "image_*",
                                                   "video_*",
                                                   "enable_thinking",
                                                   "pissa_*",
                                                   "use_reentrant_gc",
                                                   "default_system",
                                                   "ref_model*",
                                                   "reward_model*",
                                                   "pref_*",
                                                   "galore_*",
                                                   "badam_*",
                                                   "apollo_*",
                                                   "model_max_length",
                                                   "ray_*",
                                                   "resources_per_worker*",
                                                   "tool_format",
                                                   "max_new_tokens",
                                                   "top_p",
                                                   "temperature"};

void MoreOfLlamaFactory(ForeignKeys& keys, proto::Workload* out) {
  // Pre-training packs by itself.
  if (!keys.Has("packing") && keys.Text("stage").value_or("sft") != "pt")
    keys.LeaveOut("packing is off: each sequence has all tokens of cutoff_len");
  const std::string kind = keys.Text("finetuning_type").value_or("lora");
  const int64_t rank = keys.NumberOr("lora_rank", 8);
  const std::string targets = keys.Text("lora_target").value_or("all");
  keys.Set("lora_target", targets);  // the default is "all"
  if (kind == "lora") {
    TakeAdapters(rank, "lora_target", keys, out);
    TakeAdapterDropout("lora_dropout", 0, keys, out);
  } else if (kind == "full") {
    keys.Pass(std::initializer_list<const char*>{"lora_*"});
  } else if (kind == "freeze" || kind == "oft") {
    keys.LeaveOut("finetuning_type", "all weights are trained");
  } else {
    keys.Refuse("finetuning_type", "expected full, lora, freeze or oft");
  }
  keys.Text("lora_target");
}

bool LooksLikeLlamaFactory(const Head& head) {
  const TopKeys& k = head.keys;
  return k.Has("finetuning_type") || k.Has("cutoff_len") ||
         (k.Has("stage") && k.Has("template") && k.Has("per_device_train_batch_size"));
}

absl::Status ReadLlamaFactory(const Source& source, proto::Workload* out) {
  return ReadTrainer(source,
                     {.rows = kLlamaFactoryRows,
                      .harmless = kHarmlessOfLlamaFactory,
                      .model = "model_name_or_path",
                      .recomputes = true,
                      .more = MoreOfLlamaFactory},
                     out);
}

}  // namespace

const Format kLlamaFactory = {"LLaMA-Factory's YAML", Role::kTrainer, LooksLikeLlamaFactory,
                              ReadLlamaFactory};

}  // namespace chakra::foreign
