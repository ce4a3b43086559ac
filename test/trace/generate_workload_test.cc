// What users write of a workload, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/counts.h"
#include "trace/generate/hf_config.h"
#include "trace/generate/layers.h"
#include "trace/generate/presets.h"
#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"

namespace chakra::generate {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<StepPlan> Plan(const WorkloadOptions& options) {
  const auto workload = ReadWorkload(options);
  return workload.ok() ? ResolvePlan(*workload) : workload.status();
}

constexpr char kSmall[] = "layers=8,hidden=512,heads=8,ffn=2048,vocab=1000";

std::string ErrorOf(const std::string& model, const std::string& parallel, const std::string& training) {
  const auto plan = Plan({.file = "", .model = model, .parallel = parallel, .training = training, .set = {}});
  EXPECT_FALSE(plan.ok()) << model << " " << parallel << " " << training;
  return std::string(plan.status().message());
}

class Folder {
 public:
  Folder() : path_(std::filesystem::path(::testing::TempDir()) / "generate_workload") {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name) << content;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

TEST(GenerateWorkload, ReadsShortForms) {
  const auto plan =
      Plan({.file = "",
            .model = "layers=24,hidden=2048,heads=16,kv_heads=4,ffn=8192,gated=no,vocab=50257,tied=yes",
            .parallel = "tp=2,pp=4,dp=8",
            .training = "seq=4096,micro_batch=2,global_batch=512,dtype=fp16,recompute=full",
            .set = {"training.optimizer=sgd"}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->model.head_dim, 128);
  EXPECT_FALSE(plan->model.gated);
  EXPECT_TRUE(plan->split.sp);
  EXPECT_EQ(plan->split.ranks(), 64);
  EXPECT_EQ(plan->micro_batches(), 32);
  EXPECT_EQ(plan->gradient_bytes(), 2);
  EXPECT_EQ(plan->training.optimizer, proto::Training::SGD);
}

TEST(GenerateWorkload, KeysChangeAPreset) {
  const auto plan =
      Plan({.file = "", .model = "llama3-70b:layers=12", .parallel = "", .training = "seq=4096", .set = {}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->model.layers, 12);
  EXPECT_EQ(plan->model.kv_heads, 8);
  EXPECT_EQ(plan->name, "llama3-70b");
}

TEST(GenerateWorkload, AFileIsTheSameAsShortForms) {
  const Folder folder;
  const std::string file = folder.Write("step.txtpb",
                                        "model { preset: \"llama3-8b\" layers: 4 }\n"
                                        "parallel { tp: 2 }\n"
                                        "training { seq: 1024 }\n");
  const auto workload =
      ReadWorkload({.file = file, .model = "", .parallel = "pp=2", .training = "", .set = {}});
  ASSERT_TRUE(workload.ok()) << workload.status();
  const auto plan = ResolvePlan(*workload);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->model.layers, 4);
  EXPECT_EQ(plan->model.hidden, 4096);
  EXPECT_EQ(plan->split.ranks(), 4);
}

TEST(GenerateWorkload, LooksLikeOne) {
  EXPECT_TRUE(LooksLikeWorkload("# a step\nname: \"x\"\nmodel {\n"));
  EXPECT_TRUE(LooksLikeWorkload("{\n  \"model\": {"));
  EXPECT_TRUE(LooksLikeWorkload("parallel { tp: 2 }"));
  EXPECT_FALSE(LooksLikeWorkload("{\"schemaVersion\": 1, \"model\": 2}"));
  EXPECT_FALSE(LooksLikeWorkload("modelled: 3"));
  EXPECT_FALSE(LooksLikeWorkload(""));
}

TEST(GenerateWorkload, EveryPresetHolds) {
  for (const std::string& name : PresetNames()) {
    const auto model = FindPreset(name);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_FALSE(model->source().empty()) << name;
    const auto plan = Plan({.file = "", .model = name, .parallel = "", .training = "", .set = {}});
    if (name == "vit-l-16") {
      ASSERT_TRUE(plan.ok()) << plan.status();
      EXPECT_EQ(plan->training.seq, 197);
    } else {
      const bool tables = model->has_dense_features();
      EXPECT_THAT(std::string(plan.status().message()),
                  testing::HasSubstr(tables ? "training.global_batch is missing" : "training.seq is missing"))
          << name;
    }
  }
}

TEST(GenerateWorkload, RefusesWithTheNearest) {
  const struct {
    const char *model, *parallel, *training, *error;
  } kCases[] = {
      {kSmall, "tp=3", "seq=1024",
       "parallel.tp is 3; expected a divisor of model.heads, 8; the nearest is 2"},
      {kSmall, "pp=3", "seq=1024",
       "model.layers is 8; expected a multiple of parallel.pp, 3; the nearest is 9"},
      {kSmall, "pp=2,vpp=3", "seq=1024",
       "model.layers is 8; expected a multiple of parallel.pp * parallel.vpp, 6; the nearest is 6"},
      {kSmall, "dp=4", "seq=1024,micro_batch=2,global_batch=30",
       "training.global_batch is 30; expected a multiple of parallel.dp * training.micro_batch, 8; the "
       "nearest "
       "is 32"},
      {"mixtral-8x7b", "ep=3,dp=3", "seq=1024",
       "parallel.ep is 3; expected a divisor of model.experts, 8; the nearest is 2"},
      {"mixtral-8x7b", "ep=8,dp=4", "seq=1024",
       "parallel.ep * parallel.etp is 8; expected a divisor of parallel.tp * parallel.cp * parallel.dp, 4; "
       "the "
       "nearest is 4"},
      {kSmall, "ep=2,dp=2", "seq=1024", "parallel.ep is 2; expected 1, for the model has no experts"},
      {"layers=2,hidden=64,heads=4,vocab=100,expert_ffn=32,experts=8,top_k=2,expert_groups=3", "", "seq=64",
       "model.expert_groups is 3; expected a divisor of model.experts, 8; the nearest is 2"},
      {"layers=2,hidden=64,heads=4,vocab=100,expert_ffn=32,experts=8,top_k=2,expert_groups=4,top_groups=5",
       "", "seq=64", "model.top_groups is 5; expected 1 to 4"},
      {"layers=2,hidden=64,heads=4,vocab=100,expert_ffn=32,experts=8,top_k=2,expert_groups=8,top_groups=1",
       "", "seq=64", "model.top_groups is 1; expected 2 to 8"},
      {"layers=2,hidden=64,heads=4,vocab=100,expert_ffn=32,experts=8,top_k=2",
       "pp=2,schedule=gpipe,overlap_expert=yes", "seq=64,global_batch=4",
       "parallel.overlap_expert with another schedule"},
      {kSmall, "cp=2", "seq=1022", "training.seq is 1022; expected a multiple of 2 * parallel.cp, 4"},
      {kSmall, "pp=2,vpp=2", "seq=64,global_batch=3", "expected a multiple of parallel.pp, 2"},
      {kSmall, "pp=5", "seq=64",
       "parallel.pp, 5; the nearest is 10; or parallel.pp of 4, or parallel.layout=balanced"},
      {kSmall, "schedule=zbv", "seq=64",
       "is not generated yet; known: gpipe, 1f1b, interleaved, zb-h1, dualpipe, dualpipev"},
      {kSmall, "schedule=dualpipe", "seq=64",
       "parallel.pp is 1; with schedule=dualpipe expected an even number"},
      {kSmall, "schedule=dualpipe,pp=4", "seq=64,global_batch=7",
       "makes 7 micro-batches; with schedule=dualpipe expected an even number, at least 2 * parallel.pp, 8; "
       "the "
       "nearest is 8, global_batch=8"},
      {kSmall, "schedule=dualpipev,pp=4,vpp=4", "seq=64",
       "parallel.vpp is 4; with schedule=dualpipev expected 2"},
      {kSmall, "schedule=zb-h1,pp=2,vpp=2", "seq=64", "parallel.vpp is 2; expected 1"},
      {kSmall, "pp=2,layout=Ett|tttL", "seq=64",
       "it has 5 t and 0 m; expected model.layers, 8, and model.mtp, 0"},
      {kSmall, "pp=2,layout=Et*8", "seq=64", "parallel.layout is \"Et*8\"; expected one L, at the end"},
      {kSmall, "pp=2,layout=Et*4|x", "seq=64", "'x' is no layer; expected E, t, m, L, |"},
      {kSmall, "pp=2,layout=Et*8|L|", "seq=64", "expected L in the last piece"},
      {kSmall, "pp=4,layout=Et*4|t*4L", "seq=64", "it has 2 pieces; expected parallel.pp * parallel.vpp, 4"},
      {kSmall, "pp=4,first_layers=1", "seq=64",
       "leave 7 of model.layers, 8, to 3 stages; expected a multiple of them; the nearest is 6"},
      {kSmall, "pp=16", "seq=64", "expected no more pieces than model.layers, 8; the nearest is 8"},
      {kSmall, "schedule=interleave", "seq=64",
       "parallel.schedule is \"interleave\"; did you mean 'interleaved'?"},
      {kSmall, "vpp=2", "seq=64", "parallel.vpp is 2; expected 1, for parallel.pp is 1"},
      {kSmall, "", "seq=64,framework=ddp,zero=2", "unknown key \"zero\""},
      {kSmall, "tp=many", "seq=64", "--parallel: tp is \"many\"; expected a whole number from 1 to 65536"},
      {kSmall, "tq=2", "seq=64", "unknown key \"tq\"; did you mean 'tp'?"},
      {"layers=8,hidden=500,heads=8,ffn=2048,vocab=10", "", "seq=64",
       "model.hidden is 500; expected a multiple of model.heads, 8; the nearest is 496"},
      {"layers=8,heads=8", "", "seq=64", "model.hidden is missing"},
      {kSmall, "", "", "training.seq is missing; expected the tokens of a sequence, as --training seq=4096"},
      {"llama3-80b", "", "seq=64", "there is no model \"llama3-80b\"; did you mean 'llama3-8b'?"},
      {"layers=0", "", "seq=64", "layers is 0; expected a whole number from 1 to 1024; the nearest is 1"},
      {"llama3-8b:window_layers=0-3", "", "seq=64",
       "model.window_layers is for windows; expected model.window too"},
      {"llama3-8b:window=8,window_layers=0-32", "", "seq=64",
       "model.window_layers is \"0-32\"; expected layers from 0 to 31, as 0-22:2 or 0+2+4"},
      {"llama3-8b:window=8,window_layers=odd", "", "seq=64",
       "model.window_layers is \"odd\"; expected layers"},
      {"llama3-8b:window=8,causal=no", "", "seq=64", "model.window is 8; expected 0, for model.causal is no"},
      {"deepseek-v3:window=8", "", "seq=64", "model.window is 8; expected 0, for latent attention"},
      {"llama3-8b:window=8", "cp=2", "seq=64",
       "model.window with parallel.cp is not generated yet; known: cp_kind=ulysses"},
      {kSmall, "", "seq=64,recompute_layers=2",
       "training.recompute_layers is for whole layers; expected training.recompute=full"},
      {kSmall, "", "seq=64,recompute=selective,recompute_method=block",
       "training.recompute_method is for whole layers; expected training.recompute=full"},
      {kSmall, "", "seq=64,recompute_modules=mlp",
       "training.recompute_modules is for single modules; expected training.recompute=selective"},
      {kSmall, "", "seq=64,recompute=selective,recompute_modules=core_atn",
       "training.recompute_modules has \"core_atn\"; did you mean 'core_attn'?"},
      {kSmall, "", "seq=64,recompute=selective,recompute_modules=mlp+mlp",
       "training.recompute_modules has \"mlp\" twice"},
      {kSmall, "", "seq=64,recompute=selective,recompute_modules=moe_act",
       "training.recompute_modules has \"moe_act\"; expected a model of experts (model.experts)"},
      {kSmall, "", "seq=64,recompute=selective,recompute_modules=mla_up_proj",
       "training.recompute_modules has \"mla_up_proj\"; expected latent attention (model.kv_rank)"},
      {"mixtral-8x7b", "", "seq=64,recompute=selective,recompute_modules=moe+moe_act",
       "training.recompute_modules has \"moe_act\", which moe makes again too; expected one of them"},
      {"mixtral-8x7b", "", "seq=64,recompute=selective,recompute_modules=mlp",
       "training.recompute_modules has \"mlp\"; expected layers without experts"},
      {"mixtral-8x7b", "", "seq=64,recompute=selective,recompute_modules=shared_experts",
       "training.recompute_modules has \"shared_experts\"; expected shared experts (model.shared_ffn)"},
      {"llama3-8b:pre_norm=no", "", "seq=64", "model.pre_norm is no; expected model.post_norm=yes"},
      {"llama3-8b:norm_bias=no", "", "seq=64", "model.norm_bias is for norm=layer"},
      {"llama3-8b:qk_norm_wide=yes", "", "seq=64", "model.qk_norm_wide is for norms of queries and keys"},
      {"llama3-8b:qk_norm=yes,qk_norm_wide=yes", "tp=2", "seq=64", "model.qk_norm_wide with parallel.tp"},
      {kSmall, "", "seq=64,grad_reduce_dtype=fp8",
       "training.grad_reduce_dtype is fp8; expected fp32 or bf16"},
      {kSmall, "", "seq=64,grad_reduce_dtype=fp16", "expected fp32 or bf16; the nearest is bf16"},
      {kSmall, "", "seq=64,dtype=fp16,grad_reduce_dtype=bf16", "expected fp16 with training.dtype=fp16"},
      {kSmall, "", "seq=64,dtype=fp32,grad_reduce_dtype=bf16",
       "expected fp32 but with training.dtype=bf16 or fp8; the nearest is fp32"},
      {kSmall, "", "seq=64,framework=ddp,grad_reduce_dtype=bf16", "expected fp32 with framework=ddp"},
      {"dlrm", "", "global_batch=64,grad_reduce_dtype=bf16",
       "training.grad_reduce_dtype is bf16, and is for transformers"},
      {"llama4-scout", "", "seq=12000",
       "training.seq is 12000; expected a multiple of model.chunk, 8192; the nearest is 8192"},
      {"llama4-scout", "cp=2", "seq=16384",
       "model.chunk with parallel.cp is not generated yet; known: cp_kind=ulysses"},
      {"llama3-8b:chunk_layers=0", "", "seq=64",
       "model.chunk_layers is for chunks; expected model.chunk too"},
      {"llama3-8b:chunk=8,window=8", "", "seq=64",
       "model.chunk is 8; expected 0, or causal attention without"},
      {"llama3-8b:rope_layers=0-32", "", "seq=64",
       "model.rope_layers is \"0-32\"; expected layers from 0 to 31"},
      {"gpt3-175b:rope_layers=0", "", "seq=64", "model.rope_layers is for rotary positions"},
      {"llama3-8b:qk_norm_bare=yes", "", "seq=64", "model.qk_norm_bare is for norms of each head's"},
      {"gemma2-2b", "", "seq=64,attention=flash1",
       "training.attention is flash1; expected flash with model.score_cap"},
      {"vit-l-16:logit_cap=30", "", "", "model.logit_cap is for text"},
      {"llama3-8b:clamp=yes", "", "seq=64", "model.clamp is for experts; expected model.experts too"},
      {"llama3-8b:shared_norm=yes,post_norm=yes", "", "seq=64",
       "model.shared_norm is yes; expected model.post_norm=no"},
      {kSmall, "", "seq=64,recompute=full,recompute_method=block",
       "training.recompute_layers is missing; with recompute_method=block expected how many layers"},
      {kSmall, "", "seq=64,recompute=full,recompute_layers=0",
       "training.recompute_layers is 0; with recompute_method=uniform expected at least 1; the nearest is 1"},
      {kSmall, "zero=3,dp=2", "seq=64,recompute=full,recompute_layers=2",
       "training.recompute_layers of more than 1 with parallel.zero=3 is not generated yet; known: "
       "recompute_layers=1"},
  };
  for (const auto& c : kCases) EXPECT_THAT(ErrorOf(c.model, c.parallel, c.training), HasSubstr(c.error));
}

TEST(GenerateWorkload, TheDispatcherGoesByTheMachineAndTheModel) {
  const auto deep = [](const std::string& model, const std::string& parallel) {
    return PlanOf(model, absl::StrCat("dp=32,", parallel), "seq=64").split.deep;
  };
  EXPECT_TRUE(deep("qwen3-30b-a3b", "ep=8"));
  EXPECT_FALSE(deep("qwen3-30b-a3b", "ep=16"));
  EXPECT_TRUE(deep("qwen3-30b-a3b", "ep=16,domain=72"));
  EXPECT_TRUE(deep("qwen3-30b-a3b", "ep=16,dispatcher=deep"));
  EXPECT_TRUE(deep("deepseek-v3", "ep=16"));
  EXPECT_FALSE(deep("deepseek-v3", "ep=16,dispatcher=alltoall"));
}

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

TEST(GenerateConfig, ReadsDeepSeekAndWhatIsNested) {
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

// To the last parameter, as the checkpoints have them.
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

// Totals of the published checkpoints; of GLM-4.5-Air without the layer of further tokens.
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
TEST(GenerateConfig, ReadsFurtherKinds) {
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
    // And what a rank holds that has all of it.
    StepPlan plan;
    plan.model = *sizes;
    plan.training.seq = 128;
    int64_t held = ShareOfEmbedding(plan) + ShareOfHead(plan);
    for (int64_t i = 0; i < sizes->layers; ++i) held += ShareOfLayer(plan, i).dense;
    EXPECT_EQ(held, c.total) << c.config;
  }
}

TEST(GenerateConfig, NamesKeysOfKindsThatItCannotExpress) {
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
  EXPECT_EQ(capped->score_cap(), 50);  // the class's
  EXPECT_EQ(capped->logit_cap(), 20.5);
}

constexpr char kLlama4[] =
    R"("hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8,
       "head_dim": 128, "intermediate_size": 8192, "intermediate_size_mlp": 16384, "vocab_size": 202048,
       "num_experts_per_tok": 1, "attention_chunk_size": 8192, )";

TEST(GenerateConfig, Llama4IsThePreset) {
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

TEST(GenerateConfig, NamesWhatLlama4CannotHave) {
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

TEST(GenerateConfig, Gemma2IsThePreset) {
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

TEST(GenerateConfig, SaysWhatIsWrongWithWindows) {
  const struct {
    const char *type, *keys, *error;
  } kCases[] = {
      {"llama", ",\"sliding_window\": 1024, \"max_position_embeddings\": 4096",
       "sliding_window is 1024, and models of this kind have no windows; expected null"},
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

TEST(GenerateConfig, SaysWhatIsWrong) {
  const struct {
    const char *content, *error;
  } kCases[] = {
      {"{\"model_type\": \"lama\"}",
       "model_type is \"lama\", a kind that is not known; did you mean 'llama'? at c.json:1:16"},
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
}  // namespace chakra::generate
