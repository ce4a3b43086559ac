// HuggingFace's TrainingArguments, as scripts of transformers read them from JSON or YAML.
#include "trace/foreign/format.h"
#include "trace/foreign/trainer.h"

namespace chakra::foreign {
namespace {

// Keys of transformers' own scripts, examples/pytorch/language-modeling/run_clm.py.
constexpr Row kScriptRows[] = {
    {"block_size|model_max_length|max_seq_length|max_source_length", "number", "training.seq"},
};

constexpr const char* kHarmlessOfScript[] = {
    "dataset_*",         "train_file",         "validation_*",
    "max_train_samples", "max_eval_samples",   "preprocessing_num_workers",
    "config_name",       "use_fast_tokenizer", "token",
    "streaming",         "keep_linebreaks",    "overwrite_cache",
    "model_type"};

bool LooksLikeArgumentsOfTrainer(const Head& head) {
  const TopKeys& k = head.keys;
  return k.Has("per_device_train_batch_size") ||
         (k.Has("output_dir") && k.Has("gradient_accumulation_steps"));
}

absl::Status ReadTrainingArguments(const Source& source, proto::Workload* out) {
  return ReadTrainer(
      source, {.rows = kScriptRows, .harmless = kHarmlessOfScript, .model = "model_name_or_path"}, out);
}

}  // namespace

const Format kTrainingArguments = {"HuggingFace's TrainingArguments", Role::kTrainer,
                                   LooksLikeArgumentsOfTrainer, ReadTrainingArguments};

}  // namespace chakra::foreign
