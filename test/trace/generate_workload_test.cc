// Workloads as users write them, and workloads that are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/presets.h"
#include "trace/generate/resolve.h"
#include "trace/generate/sizes.h"
#include "trace/generate/workload.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<StepPlan> Plan(const WorkloadOptions& options) {
  const auto workload = ReadWorkload(options);
  return workload.ok() ? ResolvePlan(*workload) : workload.status();
}

constexpr char kSmall[] = "layers=8,hidden=512,heads=8,ffn=2048,vocab=1000";

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

TEST(GenerateWorkload, FilesOfModelsThatCannotBeRead) {
  const Folder folder;
  const auto error = [&](const char* name) {
    const auto plan = Plan({.file = "", .model = folder.Write(name, "import torch\n"), .training = "seq=64"});
    return std::string(plan.status().message());
  };
  EXPECT_THAT(error("run.yaml"), testing::HasSubstr("run.yaml: not a configuration of a known framework; "));
  EXPECT_THAT(error("run.yaml"),
              testing::HasSubstr("recipe of Megatron-Bridge, or a config.json of HuggingFace"));
  EXPECT_THAT(error("run.py"), testing::HasSubstr("; a Python file cannot be read: print its configuration"));
}

// Any two of micro_batch, accumulation and global_batch give the third.
TEST(GenerateWorkload, AccumulationIsAFactorOfTheBatch) {
  const auto plan = [](const std::string& training) {
    return Plan(
        {.file = "", .model = kSmall, .parallel = "dp=4", .training = "seq=128," + training, .set = {}});
  };
  for (const char* training :
       {"micro_batch=2,accumulation=3", "micro_batch=2,global_batch=24", "accumulation=3,global_batch=24",
        "micro_batch=2,accumulation=3,global_batch=24"}) {
    const auto p = plan(training);
    ASSERT_TRUE(p.ok()) << training << ": " << p.status();
    EXPECT_EQ(p->training.global_batch, 24) << training;
    EXPECT_EQ(p->training.micro_batch, 2) << training;
    EXPECT_EQ(p->micro_batches(), 3) << training;
  }
  EXPECT_EQ(plan("accumulation=3")->training.global_batch, 12);
  EXPECT_EQ(plan("micro_batch=2,accumulation=3,global_batch=32").status().message(),
            "training.global_batch is 32; expected training.micro_batch * accumulation * parallel.dp, 2 * 3 "
            "* 4 = 24");
  EXPECT_EQ(plan("accumulation=3,global_batch=32").status().message(),
            "training.global_batch is 32; expected training.micro_batch * accumulation * parallel.dp, 2 * 3 "
            "* 4 = 24");
}

TEST(GenerateWorkload, KeysOverrideThePreset) {
  const auto plan =
      Plan({.file = "", .model = "llama3-70b:layers=12", .parallel = "", .training = "seq=4096", .set = {}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->model.layers, 12);
  EXPECT_EQ(plan->model.kv_heads, 8);
  EXPECT_EQ(plan->name, "llama3-70b");
}

TEST(GenerateWorkload, FileEqualsShortForms) {
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

TEST(GenerateWorkload, RecognisesWorkloadFiles) {
  EXPECT_TRUE(LooksLikeWorkload("# a step\nname: \"x\"\nmodel {\n"));
  EXPECT_TRUE(LooksLikeWorkload("{\n  \"model\": {"));
  EXPECT_TRUE(LooksLikeWorkload("parallel { tp: 2 }"));
  EXPECT_FALSE(LooksLikeWorkload("{\"schemaVersion\": 1, \"model\": 2}"));
  EXPECT_FALSE(LooksLikeWorkload("modelled: 3"));
  EXPECT_FALSE(LooksLikeWorkload(""));
}

TEST(GenerateWorkload, EveryPresetResolves) {
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

TEST(GenerateWorkload, ErrorsNameTheNearestValue) {
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
      {kSmall, "ep=2,dp=2", "seq=1024", "parallel.ep is 2; expected 1, because the model has no experts"},
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
      {kSmall, "pp=2,layout=Et*4|x", "seq=64", "'x' is not a layer; expected E, t, m, L, |"},
      {kSmall, "pp=2,layout=Et*8|L|", "seq=64", "expected L in the last piece"},
      {kSmall, "pp=4,layout=Et*4|t*4L", "seq=64", "it has 2 pieces; expected parallel.pp * parallel.vpp, 4"},
      {kSmall, "pp=4,first_layers=1", "seq=64",
       "leave 7 of model.layers, 8, to 3 stages; expected a multiple of them; the nearest is 6"},
      {kSmall, "pp=16", "seq=64", "expected no more pieces than model.layers, 8; the nearest is 8"},
      {kSmall, "schedule=interleave", "seq=64",
       "parallel.schedule is \"interleave\"; did you mean 'interleaved'?"},
      {kSmall, "vpp=2", "seq=64", "parallel.vpp is 2; expected 1, because parallel.pp is 1"},
      {kSmall, "", "seq=64,framework=ddp,zero=2", "unknown key \"zero\""},
      {kSmall, "tp=many", "seq=64", "--parallel: tp is \"many\"; expected a whole number from 1 to 65536"},
      {kSmall, "tq=2", "seq=64", "unknown key \"tq\"; did you mean 'tp'?"},
      {"layers=8,hidden=500,heads=8,ffn=2048,vocab=10", "", "seq=64",
       "model.hidden is 500; expected a multiple of model.heads, 8; the nearest is 496"},
      {"layers=8,heads=8", "", "seq=64", "model.hidden is missing"},
      {kSmall, "", "", "training.seq is missing; expected the tokens of a sequence, as --training seq=4096"},
      {"llama3-80b", "", "seq=64", "there is no model \"llama3-80b\"; did you mean 'llama3-70b'?"},
      {"layers=0", "", "seq=64", "layers is 0; expected a whole number from 1 to 1024; the nearest is 1"},
      {"llama3-8b:window_layers=0-3", "", "seq=64",
       "model.window_layers is for windows; expected model.window too"},
      {"llama3-8b:window=8,window_layers=0-32", "", "seq=64",
       "model.window_layers is \"0-32\"; expected layers from 0 to 31, as 0-22:2 or 0+2+4"},
      {"llama3-8b:window=8,window_layers=odd", "", "seq=64",
       "model.window_layers is \"odd\"; expected layers"},
      {"llama3-8b:window=8,causal=no", "", "seq=64",
       "model.window is 8; expected 0, because model.causal is no"},
      {"deepseek-v3:window=8", "", "seq=64", "model.window is 8; expected 0, because latent attention"},
      {"llama3-8b:window=8", "cp=2", "seq=64",
       "model.window with parallel.cp is not generated yet; known: cp_kind=ulysses"},
      {kSmall, "dp=4,copies=2", "seq=64",
       "parallel.copies is 2; expected parallel.zero of at least 1, found 0"},
      {kSmall, "dp=4,zero=1,copies=3", "seq=64",
       "parallel.dp is 4; expected a multiple of parallel.copies, 3"},
      {kSmall, "dp=4,zero=1,copies=4", "seq=64",
       "parallel.copies is 4; expected less than parallel.dp * cp, 4, because each rank has a copy; without "
       "sharing use zero=0"},
      {kSmall, "dp=4,reshard_after_forward=no", "seq=64",
       "parallel.reshard_after_forward is for FSDP; expected training.framework=fsdp"},
      {kSmall, "", "seq=64,recompute=operators",
       "training.recompute is operators, which PyTorch has; expected training.framework=fsdp or ddp"},
      {kSmall, "", "seq=64,recompute_gemms=yes",
       "training.recompute_gemms is for single operators; expected training.recompute=operators"},
      {kSmall, "", "seq=64,recompute=full,recompute_method=every",
       "training.recompute_layers is missing; with recompute_method=every expected N, to recompute every "
       "N-th "
       "layer"},
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
       "training.recompute_modules has \"moe_act\", which moe recomputes too; expected one of them"},
      {kSmall, "", "seq=64,recompute=selective,recompute_modules=mlp+mlp_up",
       "training.recompute_modules has \"mlp\", which mlp_up recomputes too; expected one of them"},
      {"deepseek-v3", "", "seq=64,recompute=selective,recompute_modules=mla_up_proj+qkv_proj",
       "training.recompute_modules has \"mla_up_proj\", which qkv_proj recomputes too; expected one of them"},
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
       "expected fp32, unless training.dtype is bf16, fp8 or nvfp4; the nearest is fp32"},
      {kSmall, "", "seq=64,framework=ddp,grad_reduce_dtype=bf16", "expected fp32 with framework=ddp"},
      {"dlrm", "", "global_batch=64,grad_reduce_dtype=bf16",
       "training.grad_reduce_dtype is bf16, but is for transformers"},
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
       "training.recompute_layers is missing; with recompute_method=block expected the number of layers"},
      {kSmall, "", "seq=64,recompute=full,recompute_layers=0",
       "training.recompute_layers is 0; with recompute_method=uniform expected at least 1; the nearest is 1"},
      {kSmall, "zero=3,dp=2", "seq=64,recompute=full,recompute_layers=2",
       "training.recompute_layers of more than 1 with parallel.zero=3 is not generated yet; known: "
       "recompute_layers=1"},
  };
  for (const auto& c : kCases) {
    const std::string error = ErrorOf(c.model, c.parallel, c.training);
    EXPECT_NE(error, "") << c.model << " " << c.parallel << " " << c.training;
    EXPECT_THAT(error, HasSubstr(c.error));
  }
}

TEST(GenerateWorkload, ChoosesTheDispatcherByMachineAndModel) {
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

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
