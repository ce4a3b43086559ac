// HuggingFace config.json files: keys that are read, and values that are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/counts.h"
#include "trace/generate/huggingface/hf_config.h"
#include "trace/generate/layers.h"
#include "trace/generate/presets.h"
#include "trace/generate/resolve.h"
#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

TEST(GenerateConfig, ReadsHuggingFace) {
  const auto model = ParseHuggingFaceConfig(
      R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
          "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
          "rope_scaling": null, "torch_dtype": "bfloat16"})",
      "config.json");
  ASSERT_TRUE(model.ok()) << model.status();
  const auto sizes = ResolveModel(*model);
  ASSERT_TRUE(sizes.ok()) << sizes.status();
  EXPECT_EQ(CountParameters(*sizes).total, 8030261248);
}

TEST(GenerateConfig, ReadsDeepSeekAndNestedConfigs) {
  const auto model = ParseHuggingFaceConfig(
      R"({"text_config": {"architectures": ["DeepseekV3ForCausalLM"], "hidden_size": 7168, "num_hidden_layers": 61,
          "num_attention_heads": 128, "num_key_value_heads": 128, "head_dim": 64, "intermediate_size": 18432,
          "vocab_size": 129280, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
          "moe_intermediate_size": 2048, "first_k_dense_replace": 3, "q_lora_rank": 1536, "kv_lora_rank": 512,
          "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}})",
      "config.json");
  ASSERT_TRUE(model.ok()) << model.status();
  const auto sizes = ResolveModel(*model);
  ASSERT_TRUE(sizes.ok()) << sizes.status();
  const auto preset = ResolveModel(*FindPreset("deepseek-v3"));
  EXPECT_EQ(CountParameters(*sizes).total, CountParameters(*preset).total);
}

TEST(GenerateConfig, ReadsGpt2) {
  const auto model = ParseHuggingFaceConfig(
      R"({"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024,
          "vocab_size": 50257})",
      "config.json");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(CountParameters(*ResolveModel(*model)).total, 124439808);  // as published
}

constexpr char kGptOss20b[] =
    R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 24, "num_attention_heads": 64,
        "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "vocab_size": 201088,
        "num_local_experts": 32, "experts_per_token": 4, "sliding_window": 128, "swiglu_limit": 7.0)";
constexpr char kGemma3[] =
    R"({"model_type": "gemma3_text", "hidden_size": 1152, "num_hidden_layers": 26, "num_attention_heads": 4,
        "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 6912, "vocab_size": 262144,
        "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 512, "attn_logit_softcapping": null)";
constexpr char kOther[] =
    R"("hidden_size": 64, "num_hidden_layers": 6, "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 64,
       "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
       "shared_expert_intermediate_size": 32)";

// Exact totals of the published checkpoints.
TEST(GenerateConfig, ReadsGptOssAndGemma) {
  const auto oss = ParseHuggingFaceConfig(absl::StrCat(kGptOss20b, "}"), "config.json");
  ASSERT_TRUE(oss.ok()) << oss.status();
  EXPECT_EQ(CountParameters(*ResolveModel(*oss)).total, 20914757184);
  EXPECT_NEAR(static_cast<double>(CountParameters(*ResolveModel(*oss)).active) / 1e9, 3.61 + 0.58,
              0.01);  // and head
  const auto gemma = ParseHuggingFaceConfig(absl::StrCat(kGemma3, "}"), "config.json");
  ASSERT_TRUE(gemma.ok()) << gemma.status();
  EXPECT_EQ(CountParameters(*ResolveModel(*gemma)).total, 999885952);
  EXPECT_EQ(gemma->window(), 512);
  EXPECT_EQ(gemma->window_layers(), "0-4+6-10+12-16+18-22+24-25");
}

// Totals of the published checkpoints; GLM-4.5-Air without the layer of multi-token prediction.
TEST(GenerateConfig, ReadsPhiStarcoderAndGlm) {
  const struct {
    const char* config;
    int64_t total;
  } kCases[] = {
      {R"({"model_type": "phi3", "hidden_size": 3072, "num_hidden_layers": 32, "num_attention_heads": 32,
           "num_key_value_heads": 32, "intermediate_size": 8192, "vocab_size": 32064, "sliding_window": 2047})",
       3821079552},
      {R"({"model_type": "starcoder2", "hidden_size": 4608, "num_hidden_layers": 32, "num_attention_heads": 36,
           "num_key_value_heads": 4, "intermediate_size": 18432, "vocab_size": 49152, "sliding_window": 4096})",
       7173923840},
      {R"({"model_type": "glm4_moe", "hidden_size": 4096, "num_hidden_layers": 46, "num_attention_heads": 96,
           "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 10944, "moe_intermediate_size": 1408,
           "vocab_size": 151552, "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 8,
           "first_k_dense_replace": 1, "attention_bias": true, "num_nextn_predict_layers": 1})",
       106852245504},
  };
  for (const auto& c : kCases) {
    const auto model = ParseHuggingFaceConfig(c.config, "config.json");
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_NEAR(
        static_cast<double>(CountParameters(*ResolveModel(*model)).total) / static_cast<double>(c.total), 1,
        c.total < 100000000000 ? 0 : 1e-5)
        << CountParameters(*ResolveModel(*model)).total;
  }
}

// Totals of the published checkpoints, to the last parameter: allenai/OLMo-2-1124-7B,
// CohereForAI/c4ai-command-r-v01, tiiuae/falcon-7b and -40b, bigscience/bloom and bloom-7b1,
// facebook/opt-6.7b, microsoft/phi-2, THUDM/glm-4-9b-hf and GLM-4-9B-0414.
TEST(GenerateConfig, ReadsOtherModelTypes) {
  const struct {
    const char* config;
    int64_t total;
  } kCases[] = {
      {R"({"model_type": "olmo2", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
           "num_key_value_heads": 32, "intermediate_size": 11008, "vocab_size": 100352, "attention_bias": false})",
       7298617344},
      {R"({"model_type": "cohere", "hidden_size": 8192, "num_hidden_layers": 40, "num_attention_heads": 64,
           "num_key_value_heads": 64, "intermediate_size": 22528, "vocab_size": 256000, "logit_scale": 0.0625})",
       34980831232},
      {R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71,
           "vocab_size": 65024, "multi_query": true, "new_decoder_architecture": false, "parallel_attn": true,
           "bias": false, "alibi": false})",
       6921720704},
      {R"({"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60, "num_attention_heads": 128,
           "num_kv_heads": 8, "vocab_size": 65024, "new_decoder_architecture": true, "bias": false})",
       41303293952},
      {R"({"model_type": "bloom", "hidden_size": 4096, "n_layer": 30, "n_head": 32, "vocab_size": 250880})",
       7069016064},
      {R"({"model_type": "bloom", "n_embed": 14336, "n_layer": 70, "num_attention_heads": 112, "vocab_size": 250880})",
       176247271424},
      {R"({"model_type": "opt", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
           "ffn_dim": 16384, "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": 4096,
           "do_layer_norm_before": true, "activation_function": "relu"})",
       6658473984},
      {R"({"model_type": "phi", "hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32,
           "intermediate_size": 10240, "vocab_size": 51200, "partial_rotary_factor": 0.4})",
       2779683840},
      {R"({"model_type": "glm", "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32,
           "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 13696, "vocab_size": 151552,
           "attention_bias": true})",
       9399951360},
      {R"({"model_type": "glm4", "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32,
           "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 13696, "vocab_size": 151552,
           "attention_bias": true})",
       9400279040},
  };
  for (const auto& c : kCases) {
    const auto model = ParseHuggingFaceConfig(c.config, "config.json");
    ASSERT_TRUE(model.ok()) << model.status();
    const auto sizes = ResolveModel(*model);
    ASSERT_TRUE(sizes.ok()) << sizes.status();
    EXPECT_EQ(CountParameters(*sizes).total, c.total) << c.config;
    // A rank that has the whole model holds the same number.
    StepPlan plan;
    plan.model = *sizes;
    plan.training.seq = 128;
    int64_t held = ShareOfEmbedding(plan) + ShareOfHead(plan);
    for (int64_t i = 0; i < sizes->layers; ++i) held += ShareOfLayer(plan, i).dense;
    EXPECT_EQ(held, c.total) << c.config;
  }
}

TEST(GenerateConfig, NamesUnsupportedKeys) {
  const struct {
    const char *config, *error;
  } kCases[] = {
      {R"({"model_type": "gemma2", "attn_logit_softcapping": "much", )",
       "attn_logit_softcapping is \"much\"; expected a number from 0 to 1000000"},
      {R"({"model_type": "gemma2", "final_logit_softcapping": -1, )",
       "final_logit_softcapping is -1; expected a number from 0 to 1000000"},
      {R"({"model_type": "cohere", "use_qk_norm": true, )", "use_qk_norm: norms with weights for each head"},
      {R"({"model_type": "opt", "ffn_dim": 64, "max_position_embeddings": 64, "do_layer_norm_before": false, )",
       "do_layer_norm_before is false: not generated yet; known: true"},
      {R"({"model_type": "opt", "ffn_dim": 64, "max_position_embeddings": 64, "word_embed_proj_dim": 32, )",
       "word_embed_proj_dim: embeddings of another width are not generated yet; known: hidden_size"},
      {R"({"model_type": "falcon", "multi_query": 3, )", "multi_query is 3; expected true or false"},
  };
  constexpr char kSizes[] = R"("hidden_size": 64, "num_hidden_layers": 6, "num_attention_heads": 4,
                               "intermediate_size": 64, "vocab_size": 64})";
  for (const auto& c : kCases) {
    const auto model = ParseHuggingFaceConfig(absl::StrCat(c.config, kSizes), "config.json");
    EXPECT_THAT(std::string(model.status().message()), testing::HasSubstr(c.error)) << c.config;
  }
  const auto gemma = ParseHuggingFaceConfig(
      absl::StrCat(
          R"({"model_type": "gemma2", "attn_logit_softcapping": null, "final_logit_softcapping": null, )",
          kSizes),
      "config.json");
  ASSERT_TRUE(gemma.ok()) << gemma.status();
  EXPECT_EQ(gemma->window_layers(), "0-4:2");
  EXPECT_FALSE(gemma->has_score_cap() || gemma->has_logit_cap());
  const auto capped = ParseHuggingFaceConfig(
      absl::StrCat(R"({"model_type": "gemma2", "final_logit_softcapping": 20.5, )", kSizes), "config.json");
  ASSERT_TRUE(capped.ok()) << capped.status();
  EXPECT_EQ(capped->score_cap(), 50);  // the default of the class
  EXPECT_EQ(capped->logit_cap(), 20.5);
}

constexpr char kLlama4[] =
    R"("hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8,
       "head_dim": 128, "intermediate_size": 8192, "intermediate_size_mlp": 16384, "vocab_size": 202048,
       "num_experts_per_tok": 1, "attention_chunk_size": 8192, )";

TEST(GenerateConfig, Llama4EqualsThePreset) {
  std::string turned, listed;
  for (int i = 0; i < 48; ++i) absl::StrAppend(&turned, i > 0 ? ", " : "", i % 4 != 3 ? 1 : 0);
  for (int i = 1; i < 48; i += 2) absl::StrAppend(&listed, i > 1 ? ", " : "", i);
  const struct {
    std::string keys;
    const char* preset;
  } kCases[] = {
      {absl::StrCat("\"num_local_experts\": 16, \"no_rope_layers\": [", turned, "]"), "llama4-scout"},
      {"\"num_local_experts\": 16, \"no_rope_layers\": []", "llama4-scout"},
      {absl::StrCat("\"num_local_experts\": 128, \"interleave_moe_layer_step\": 2, \"use_qk_norm\": false, ",
                    "\"moe_layers\": [", listed, "]"),
       "llama4-maverick"},
  };
  for (const auto& c : kCases) {
    const std::string text =
        absl::StrCat("{\"model_type\": \"llama4\", \"text_config\": {\"model_type\": \"llama4_text\", ",
                     kLlama4, c.keys, "}}");
    const auto read = ParseHuggingFaceConfig(text, "config.json");
    ASSERT_TRUE(read.ok()) << read.status();
    const auto own = ResolveModel(*read), preset = ResolveModel(*FindPreset(c.preset));
    ASSERT_TRUE(own.ok()) << own.status();
    EXPECT_EQ(CountParameters(*own).total, CountParameters(*preset).total);
    EXPECT_EQ(own->turned, preset->turned);
    EXPECT_EQ(own->chunked, preset->chunked);
    EXPECT_EQ(own->chunk, 8192);
    EXPECT_EQ(own->qk_norm, preset->qk_norm);
    EXPECT_EQ(own->qk_norm_bare, preset->qk_norm_bare);
    EXPECT_EQ(TrainingFlopsPerToken(*own, 32768), TrainingFlopsPerToken(*preset, 32768));
  }
}

TEST(GenerateConfig, RefusesBadLlama4Keys) {
  const struct {
    const char *keys, *error;
  } kCases[] = {
      {"\"no_rope_layers\": [1, 0]", "no_rope_layers has 2 entries; expected num_hidden_layers, 48"},
      {"\"moe_layers\": [0, 2]", "moe_layers, entry 1: expected 1, each interleave_moe_layer_step-th layer"},
      {"\"moe_layers\": [0]", "moe_layers has 1 entries; expected 48"},
      {"\"layer_types\": [\"chunked_attention\"]", "layer_types has 1 entries"},
      {"\"no_rope_layer_interval\": 0", "no_rope_layer_interval is 0; expected at least 1"},
  };
  for (const auto& c : kCases) {
    const auto read = ParseHuggingFaceConfig(
        absl::StrCat("{\"model_type\": \"llama4_text\", ", kLlama4, c.keys, "}"), "config.json");
    EXPECT_THAT(std::string(read.status().message()), testing::HasSubstr(c.error)) << c.keys;
  }
}

TEST(GenerateConfig, Gemma2EqualsThePreset) {
  const auto read = ParseHuggingFaceConfig(
      R"({"model_type": "gemma2", "hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8,
          "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 9216, "vocab_size": 256000,
          "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 4096, "attn_logit_softcapping": 50.0,
          "final_logit_softcapping": 30.0})",
      "config.json");
  ASSERT_TRUE(read.ok()) << read.status();
  proto::Model model = *read, preset = *FindPreset("gemma2-2b");
  for (proto::Model* m : {&model, &preset}) {
    m->clear_config();
    m->clear_preset();
    m->clear_source();
  }
  EXPECT_EQ(model.ShortDebugString(), preset.ShortDebugString());
}

// Windows by the rules of each class (transformers' configuration_*.py).
TEST(GenerateConfig, ReadsWindows) {
  const struct {
    const char *type, *keys;
    int64_t window;
    const char* layers;
  } kCases[] = {
      {"mistral", "", 4096, ""},  // the class's default
      {"mistral", ",\"sliding_window\": null", 0, ""},
      {"mistral", ",\"sliding_window\": 1024", 1024, ""},
      {"mistral",
       ",\"sliding_window\": 8, \"layer_types\": [\"full_attention\", \"sliding_attention\", "
       "\"full_attention\", \"full_attention\", \"full_attention\", \"full_attention\"]",
       8, "1"},
      {"qwen2", ",\"sliding_window\": 1024, \"max_window_layers\": 4", 0, ""},
      {"qwen2", ",\"sliding_window\": 1024, \"max_window_layers\": 4, \"use_sliding_window\": true", 1024,
       "4-5"},
      {"qwen2", ",\"use_sliding_window\": true", 0, ""},  // from layer 28 on
      {"qwen3", ",\"use_sliding_window\": true, \"max_window_layers\": 0", 4096, ""},
      {"qwen2_moe", ",\"use_sliding_window\": true, \"max_window_layers\": 4", 4096, "0+2"},
      {"qwen3_moe", ",\"use_sliding_window\": true, \"max_window_layers\": 4", 4096, ""},
      {"mixtral", "", 0, ""},
      {"mixtral", ",\"sliding_window\": 4096", 4096, ""},
      {"gpt_oss", "", 128, "0-4:2"},
      {"gemma", ",\"hidden_act\": \"gelu\"", 0, ""},
      {"llama", ",\"sliding_window\": null", 0, ""},
  };
  for (const auto& c : kCases) {
    const auto model = ParseHuggingFaceConfig(
        absl::StrCat("{\"model_type\": \"", c.type, "\", ", kOther, c.keys, "}"), "c.json");
    ASSERT_TRUE(model.ok()) << c.type << c.keys << ": " << model.status();
    EXPECT_EQ(model->window(), c.window) << c.type << c.keys;
    EXPECT_EQ(model->window_layers(), c.layers) << c.type << c.keys;
    EXPECT_TRUE(ResolveModel(*model).ok()) << ResolveModel(*model).status();
  }
}

TEST(GenerateConfig, RefusesBadWindows) {
  const struct {
    const char *type, *keys, *error;
  } kCases[] = {
      {"llama", ",\"sliding_window\": 1024, \"max_position_embeddings\": 4096",
       "sliding_window is 1024, but models of this kind have no windows; expected null"},
      {"mistral", ",\"sliding_window\": \"wide\"", "sliding_window is \"wide\"; expected a whole number"},
      {"mistral", ",\"sliding_window\": -1", "sliding_window is -1; expected a whole number"},
      {"qwen3", ",\"use_sliding_window\": 1", "use_sliding_window is 1; expected true or false"},
      {"mistral", ",\"layer_types\": [\"full_attention\"]",
       "layer_types has 1 entries; expected num_hidden_layers, 6"},
      {"mistral", ",\"layer_types\": \"full_attention\"",
       "layer_types is \"full_attention\"; expected a list"},
      {"mistral",
       ",\"layer_types\": [\"full_attention\", \"linear_attention\", \"full_attention\", \"full_attention\", "
       "\"full_attention\", \"full_attention\"]",
       "layer_types, entry 1: expected full_attention or sliding_attention, found \"linear_attention\""},
      {"gemma3_text", ",\"hidden_act\": \"gelu\", \"sliding_window_pattern\": 0",
       "sliding_window_pattern is 0; expected at least 1"},
      {"gemma3_text", ",\"hidden_act\": \"gelu\", \"attn_logit_softcapping\": true",
       "attn_logit_softcapping is true; expected a number from 0 to 1000000"},
      {"gemma2", "", "hidden_act is \"silu\"; expected gelu"},
      {"gemma", "", "hidden_act is \"silu\"; expected gelu"},
      {"gpt_oss", ",\"attention_bias\": false", "attention_bias is false; expected true"},
  };
  for (const auto& c : kCases) {
    const std::string act =
        absl::StrContains(c.type, "gemma") && c.keys[0] == '\0' ? ",\"hidden_act\": \"silu\"" : "";
    const auto model = ParseHuggingFaceConfig(
        absl::StrCat("{\"model_type\": \"", c.type, "\", ", kOther, act, c.keys, "}"), "c.json");
    ASSERT_FALSE(model.ok()) << c.type << c.keys;
    EXPECT_THAT(std::string(model.status().message()), HasSubstr(c.error)) << c.type << c.keys;
  }
}

TEST(GenerateConfig, RefusesBadConfigs) {
  const struct {
    const char *content, *error;
  } kCases[] = {
      {"{\"model_type\": \"lama\"}",
       "model_type is \"lama\", which is unknown; did you mean 'llama'? at c.json:1:16"},
      {"{\"model_type\": \"llama\", \"num_hidden_layers\": 2}", "\"hidden_size\" is missing"},
      {"{\"model_type\": \"llama\", \"num_hidden_layers\": \"two\"}",
       "num_hidden_layers is \"two\"; expected a whole number from 0 to 2^40"},
      {"{\"model_type\": \"qwen3_moe\", \"num_hidden_layers\": 2, \"hidden_size\": 8, "
       "\"num_attention_heads\": 2, "
       "\"intermediate_size\": 8, \"vocab_size\": 9, \"num_experts\": 2, \"num_experts_per_tok\": 1, "
       "\"moe_intermediate_size\": 4, \"mlp_only_layers\": [1]}",
       "mlp_only_layers: a list of dense layers is not generated yet"},
      {"{\"model_type\": 3}", "model_type is 3; expected text"},
      {"{}", "\"model_type\" is missing"},
      {"[]", "expected an object"},
      {"{\"model_type\": \"llama\"", "c.json"},
  };
  for (const auto& c : kCases) {
    const auto model = ParseHuggingFaceConfig(c.content, "c.json");
    ASSERT_FALSE(model.ok()) << c.content;
    EXPECT_THAT(std::string(model.status().message()), HasSubstr(c.error)) << c.content;
  }
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
