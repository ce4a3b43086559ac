#include "trace/foreign/model_ids.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace chakra::foreign {
namespace {

// Checkpoints of one size have the sizes of their preset, whatever they were trained for.
struct ModelIds {
  const char* preset;
  const char* owners;  // separated by '|'
  const char* names;   // separated by '|'
};
constexpr ModelIds kModelIds[] = {
    {"llama2-7b", "meta-llama|NousResearch", "Llama-2-7b|Llama-2-7b-hf|Llama-2-7b-chat-hf"},
    {"llama2-70b", "meta-llama|NousResearch", "Llama-2-70b|Llama-2-70b-hf|Llama-2-70b-chat-hf"},
    {"llama3-8b", "meta-llama|NousResearch|unsloth",
     "Meta-Llama-3-8B|Meta-Llama-3-8B-Instruct|Meta-Llama-3.1-8B|Meta-Llama-3.1-8B-Instruct|Llama-3.1-8B|"
     "Llama-3.1-8B-"
     "Instruct"},
    {"llama3-70b", "meta-llama|NousResearch|unsloth",
     "Meta-Llama-3-70B|Meta-Llama-3-70B-Instruct|Meta-Llama-3.1-70B|Meta-Llama-3.1-70B-Instruct|Llama-3.1-"
     "70B|Llama-3.1-"
     "70B-Instruct|Llama-3.3-70B-Instruct"},
    {"llama3-405b", "meta-llama",
     "Meta-Llama-3.1-405B|Meta-Llama-3.1-405B-Instruct|Llama-3.1-405B|Llama-3.1-405B-Instruct"},
    {"qwen3-32b", "Qwen", "Qwen3-32B"},
    {"qwen3-30b-a3b", "Qwen",
     "Qwen3-30B-A3B|Qwen3-30B-A3B-Base|Qwen3-30B-A3B-Instruct-2507|Qwen3-30B-A3B-Thinking-2507|Qwen3-Coder-"
     "30B-A3B-"
     "Instruct"},
    {"qwen3-235b-a22b", "Qwen",
     "Qwen3-235B-A22B|Qwen3-235B-A22B-Instruct-2507|Qwen3-235B-A22B-Thinking-2507"},
    {"mixtral-8x7b", "mistralai", "Mixtral-8x7B-v0.1|Mixtral-8x7B-Instruct-v0.1"},
    {"mixtral-8x22b", "mistralai", "Mixtral-8x22B-v0.3|Mixtral-8x22B-Instruct-v0.1"},
    {"deepseek-v2", "deepseek-ai", "DeepSeek-V2|DeepSeek-V2-Chat"},
    {"deepseek-v3", "deepseek-ai",
     "DeepSeek-V3|DeepSeek-V3-Base|DeepSeek-V3-0324|DeepSeek-V3.1|DeepSeek-V3.1-Base|DeepSeek-R1|DeepSeek-R1-"
     "0528"},
    {"kimi-k2", "moonshotai", "Kimi-K2-Base|Kimi-K2-Instruct"},
    {"llama4-scout", "meta-llama", "Llama-4-Scout-17B-16E|Llama-4-Scout-17B-16E-Instruct"},
    {"llama4-maverick", "meta-llama", "Llama-4-Maverick-17B-128E|Llama-4-Maverick-17B-128E-Instruct"},
    {"gemma2-2b", "google", "gemma-2-2b|gemma-2-2b-it"},
    {"gemma2-9b", "google", "gemma-2-9b|gemma-2-9b-it"},
    {"gemma2-27b", "google", "gemma-2-27b|gemma-2-27b-it"},
    {"bert-large", "google-bert", "bert-large-uncased"},
    {"nemotron-3-nano-4b", "nvidia", "NVIDIA-Nemotron-3-Nano-4B|NVIDIA-Nemotron-3-Nano-4B-BF16"},
    {"nemotron-3-nano-30b", "nvidia",
     "NVIDIA-Nemotron-3-Nano-30B-A3B|NVIDIA-Nemotron-3-Nano-30B-A3B-BF16|NVIDIA-Nemotron-3-Nano-30B-A3B-Base-"
     "BF16"},
    {"nemotron-3-super", "nvidia",
     "NVIDIA-Nemotron-3-Super-120B-A12B|NVIDIA-Nemotron-3-Super-120B-A12B-BF16|NVIDIA-Nemotron-3-Super-120B-"
     "A12B-Base-BF16"},
    {"nemotron-3-ultra", "nvidia",
     "NVIDIA-Nemotron-3-Ultra-550B-A55B|NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16|NVIDIA-Nemotron-3-Ultra-550B-"
     "A55B-Base-BF16"},
    {"qwen3-next-80b-a3b", "Qwen", "Qwen3-Next-80B-A3B-Instruct|Qwen3-Next-80B-A3B-Thinking"},
    {"qwen3.5-9b", "Qwen", "Qwen3.5-9B|Qwen3.5-9B-Base"},
    {"qwen3.5-27b", "Qwen", "Qwen3.5-27B|Qwen3.5-27B-Base|Qwen3.8-27B"},
    {"qwen3.5-35b-a3b", "Qwen", "Qwen3.5-35B-A3B|Qwen3.5-35B-A3B-Base|Qwen3.6-35B-A3B"},
    {"qwen3.5-122b-a10b", "Qwen", "Qwen3.5-122B-A10B"},
    {"qwen3.5-397b-a17b", "Qwen", "Qwen3.5-397B-A17B"},
    {"granite-4.0-h-small", "ibm-granite", "granite-4.0-h-small|granite-4.0-h-small-base"},
    {"kimi-linear-48b-a3b", "moonshotai", "Kimi-Linear-48B-A3B-Base|Kimi-Linear-48B-A3B-Instruct"},
    {"deepseek-v3.2", "deepseek-ai", "DeepSeek-V3.2|DeepSeek-V3.2-Exp|DeepSeek-V3.2-Exp-Base"},
    {"glm-5", "zai-org", "GLM-5"},
    {"glm-5.2", "zai-org", "GLM-5.2"},
    {"lfm2-1.2b", "LiquidAI", "LFM2-1.2B"},
    {"minimax-text-01", "MiniMaxAI", "MiniMax-Text-01"},
    // MaxText's model_name has no owner.
    {"llama2-7b", "", "llama2-7b"},
    {"llama2-70b", "", "llama2-70b"},
    {"llama3-8b", "", "llama3-8b|llama3.1-8b"},
    {"llama3-70b", "", "llama3-70b|llama3.1-70b|llama3.3-70b"},
    {"llama3-405b", "", "llama3.1-405b"},
    {"mixtral-8x7b", "", "mixtral-8x7b"},
    {"mixtral-8x22b", "", "mixtral-8x22b"},
    {"deepseek-v3", "", "deepseek3-671b"},
    {"kimi-k2", "", "kimi-k2-1t"},
    {"gemma2-2b", "", "gemma2-2b"},
    {"gemma2-9b", "", "gemma2-9b"},
    {"gemma2-27b", "", "gemma2-27b"},
    {"qwen3-32b", "", "qwen3-32b"},
    {"qwen3-30b-a3b", "", "qwen3-30b-a3b"},
    {"qwen3-235b-a22b", "", "qwen3-235b-a22b"},
    {"llama4-scout", "", "llama4-17b-16e"},
    {"llama4-maverick", "", "llama4-17b-128e"},
};

bool IsOneOf(absl::string_view text, absl::string_view list) {
  for (const absl::string_view one : absl::StrSplit(list, '|')) {
    if (absl::EqualsIgnoreCase(text, one)) return true;
  }
  return false;
}

}  // namespace

std::string PresetOf(absl::string_view id) {
  const size_t slash = id.find('/');
  const absl::string_view owner = slash == absl::string_view::npos ? "" : id.substr(0, slash);
  const absl::string_view name = slash == absl::string_view::npos ? id : id.substr(slash + 1);
  for (const ModelIds& m : kModelIds) {
    if (IsOneOf(owner, m.owners) && IsOneOf(name, m.names)) return m.preset;
  }
  return "";
}

std::vector<std::string> PresetsOfIds() {
  std::set<std::string> out;
  for (const ModelIds& m : kModelIds) out.insert(m.preset);
  return {out.begin(), out.end()};
}

void TakeModelId(absl::string_view names, const Source& source, ForeignKeys& keys, proto::Workload* out) {
  namespace fs = std::filesystem;
  const auto id = keys.Text(names);
  if (!id.has_value() || source.beside.has_model) return;
  if (const std::string preset = PresetOf(*id); !preset.empty()) {
    out->mutable_model()->set_preset(preset);
    return;
  }
  std::error_code error;
  const fs::path config = fs::path(*id) / "config.json";
  if (fs::is_regular_file(fs::path(source.name).parent_path() / config, error)) {
    out->mutable_model()->set_config(config.string());
    return;
  }
  keys.Refuse(names,
              "no preset has this id, and no folder of this name has a config.json; expected the model by "
              "--model, as "
              "--model config.json with its sizes");
}

}  // namespace chakra::foreign
