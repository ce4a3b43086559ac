// TRL's YAML (trl/trainer/sft_config.py, trl/trainer/model_config.py), and the alignment handbook's, which
// adds a mixture of data sets.
#include "trace/foreign/format.h"
#include "trace/foreign/trainer.h"

namespace chakra::foreign {
namespace {

constexpr Row kTrlRows[] = {
    {"max_length|max_seq_length", "number", "training.seq"},
    {"packing", "yes", "", "attention covers the whole sequence"},
    {"packing", "no", "", "each sequence has all tokens"},
    {"padding_free", "yes", "", "each sequence has all tokens"},
    {"padding_free", "no", ""},
    {"lora_task_type", "causal_lm", ""},
    {"use_dora", "yes", "", "adapters are LoRA's"},
    {"use_dora", "no", ""},
    {"activation_offloading", "yes", "", "activations stay on the device"},
    {"activation_offloading", "no", ""},
    {"loss_type", "nll|dft", ""},
    {"loss_type", "any", "", "the logits of all tokens are kept"},
};

constexpr const char* kHarmlessOfTrl[] = {"dataset_*",
                                          "datasets*",
                                          "chat_template*",
                                          "lora_alpha",
                                          "use_rslora",
                                          "use_bnb_nested_quant",
                                          "bnb_4bit_quant_*",
                                          "assistant_only_loss",
                                          "completion_only_loss",
                                          "packing_strategy",
                                          "eval_packing",
                                          "eos_token",
                                          "pad_token",
                                          "pad_to_multiple_of",
                                          "shuffle_dataset",
                                          "model_init_kwargs.*",
                                          "token",
                                          "use_peft",
                                          "wandb_*",
                                          "callbacks*",
                                          "benchmarks*",
                                          "code_language",
                                          "auto_insert_empty_system_msg"};

// Keys that only TRL's trainers have.
constexpr const char* kOfTrl[] = {"max_length",           "max_seq_length",     "packing",
                                  "padding_free",         "use_peft",           "lora_r",
                                  "lora_target_modules",  "dataset_mixture",    "dataset_mixer",
                                  "dataset_name",         "chat_template",      "dataset_text_field",
                                  "completion_only_loss", "assistant_only_loss"};

void MoreOfTrl(ForeignKeys& keys, proto::Workload* out) {
  if (!keys.Has("packing")) keys.LeaveOut("packing is off: each sequence has all tokens");
  if (!out->training().has_seq()) out->mutable_training()->set_seq(1024);  // max_length
  const bool adapters = keys.FlagOr("use_peft", keys.Has("lora_r"));
  const int64_t rank = keys.NumberOr("lora_r", 16);
  if (!adapters) return keys.Pass(std::initializer_list<const char*>{"lora_*"});
  TakeAdapters(rank, "lora_target_modules", keys, out);
  TakeAdapterDropout("lora_dropout", 0.05, keys, out);
}

bool LooksLikeTrl(const Head& head) {
  const TopKeys& k = head.keys;
  if (!k.Has("per_device_train_batch_size") && !k.Has("gradient_accumulation_steps")) return false;
  if (!k.Has("model_name_or_path") && !k.Has("output_dir")) return false;
  if (k.Has("block_size")) return false;  // of transformers' own scripts
  for (const char* name : kOfTrl) {
    if (k.Has(name)) return true;
  }
  return false;
}

absl::Status ReadTrl(const Source& source, proto::Workload* out) {
  return ReadTrainer(source,
                     {.rows = kTrlRows,
                      .harmless = kHarmlessOfTrl,
                      .model = "model_name_or_path",
                      .recomputes = true,
                      .bf16 = true,
                      .more = MoreOfTrl},
                     out);
}

}  // namespace

const Format kTrl = {"TRL's YAML", Role::kTrainer, LooksLikeTrl, ReadTrl};

}  // namespace chakra::foreign
