// Reads config.json of HuggingFace's transformers.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"

namespace chakra::generate {

// The model of a config.json: llama, mistral, qwen2, qwen3, mixtral, qwen2_moe, qwen3_moe, deepseek_v2,
// deepseek_v3, kimi_k2, gpt2, gpt_neox, bert, vit and other kinds, selected by "model_type", else by
// "architectures". Files of vision-language models have the text model in "text_config". Keys that the file
// leaves out have the defaults of the class, except sizes, which are required. Errors (InvalidArgument;
// ReadFile()'s) name file, line, key and value: an unknown type, with the nearest one; a missing key; a value
// of the wrong kind.
absl::StatusOr<proto::Model> ReadHuggingFaceConfig(const std::string& path);

// The same for the file's content; `name` is for messages.
absl::StatusOr<proto::Model> ParseHuggingFaceConfig(absl::string_view content, absl::string_view name);

}  // namespace chakra::generate
