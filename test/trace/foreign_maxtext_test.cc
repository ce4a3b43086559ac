// MaxText's files as workloads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test/trace/foreign_testing.h"
#include "trace/generate/counts.h"
#include "trace/generate/resolve.h"
#include "trace/generate/workload.h"

namespace chakra::foreign::CHAKRA_FILE {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kNamed[] = R"(base_config: base.yml
run_name: x
model_name: llama3.1-70b
per_device_batch_size: 2
max_target_length: 8192
ici_fsdp_parallelism: 16
ici_tensor_parallelism: 4
dcn_data_parallelism: 2
remat_policy: full
quantization: fp8
attention: flash
steps: 20
dataset_type: synthetic
)";

TEST(ForeignMaxText, AMeshIsAParallelism) {
  const proto::Workload w = ReadText(kNamed, {});
  EXPECT_EQ(w.model().preset(), "llama3-70b");
  EXPECT_EQ(w.parallel().tp(), 4);
  EXPECT_EQ(w.parallel().dp(), 32);
  EXPECT_EQ(w.parallel().zero(), 3);
  EXPECT_EQ(w.training().framework(), proto::Training::FSDP);
  EXPECT_EQ(w.training().seq(), 8192);
  EXPECT_EQ(w.training().micro_batch(), 8);  // 2 on each of 4 devices
  EXPECT_EQ(w.training().accumulation(), 1);
  EXPECT_EQ(w.training().dtype(), proto::Training::FP8);
  EXPECT_EQ(w.training().recompute(), proto::Training::SELECTIVE);
  EXPECT_EQ(w.training().recompute_modules(), "layernorm+qkv_proj+core_attn+out_proj+mlp_up");
  EXPECT_EQ(w.training().attention(), proto::Training::FLASH);
  EXPECT_EQ(w.training().grad_reduce_dtype(), proto::Training::BF16);
  EXPECT_EQ(w.training().launch_us(), 0);
  EXPECT_TRUE(w.training().compiled());
  EXPECT_EQ(w.parallel().copies(), 2);
  EXPECT_THAT(LeftOutOf(w), IsEmpty());
  const proto::Workload minimal =
      ReadText(absl::StrReplaceAll(kNamed, {{"remat_policy: full", "remat_policy: minimal\nopt_type: muon"},
                                            {"quantization: fp8", "quantization: int8"},
                                            {"dcn_data_parallelism: 2", "dcn_data_parallelism: -1"}}),
               {});
  EXPECT_FALSE(minimal.parallel().has_dp());
  EXPECT_EQ(minimal.training().recompute_modules(), "layernorm+core_attn");
  EXPECT_THAT(
      LeftOutOf(minimal),
      ElementsAre(
          "quantization=int8: GEMMs have the dtype of dtype", "opt_type=muon: adamw is used",
          "the number of ranks is unknown: dp is 1; --parallel dp=N says how many ranks share the batch"));
}

proto::Workload WithPolicy(const std::string& lines) {
  return ReadText(absl::StrReplaceAll(kNamed, {{"remat_policy: full", lines}, {"dcn_data", "dcn_fsdp"}}), {});
}

// A policy is the set of the tensors that are kept; a part of a layer that makes any other runs again.
TEST(ForeignMaxText, PoliciesAreModules) {
  const struct {
    const char *lines, *modules;
  } kCases[] = {
      {"remat_policy: minimal_with_context", "layernorm"},
      {"remat_policy: save_out_proj", "layernorm+qkv_proj+core_attn+mlp_up"},
      {"remat_policy: save_dot_except_mlp", "layernorm+core_attn+mlp_up"},
      {"remat_policy: custom", "layernorm+qkv_proj+core_attn+out_proj+mlp_up"},
      {"remat_policy: custom\nqkv_proj: device\ncontext: device\nmlpwi: remat", "layernorm+out_proj+mlp_up"},
      {"remat_policy: custom\nquery_proj: device\nkey_proj: device\nvalue_proj: device\nout_proj: device",
       "layernorm+core_attn+mlp_up"},
  };
  for (const auto& c : kCases) {
    const proto::Workload w = WithPolicy(c.lines);
    EXPECT_EQ(w.training().recompute(), proto::Training::SELECTIVE) << c.lines;
    EXPECT_EQ(w.training().recompute_modules(), c.modules) << c.lines;
    EXPECT_THAT(LeftOutOf(w), IsEmpty()) << c.lines;
  }
  const proto::Workload none = WithPolicy("remat_policy: none");
  EXPECT_EQ(none.training().recompute(), proto::Training::NONE);
  EXPECT_EQ(none.training().recompute_modules(), "");
}

TEST(ForeignMaxText, WhatPoliciesDoBesidesIsNamed) {
  const proto::Workload offloaded =
      WithPolicy("remat_policy: custom\ndecoder_layer_input: offload\nmlpwo: offload\nout_proj: offload");
  EXPECT_EQ(offloaded.training().recompute_modules(), "layernorm+qkv_proj+core_attn+mlp_up");
  EXPECT_THAT(LeftOutOf(offloaded),
              Each(HasSubstr("the tensors stay on the device, without copies to the host")));
  EXPECT_EQ(LeftOutOf(offloaded).size(), 3);
  const proto::Workload mixed =
      WithPolicy("remat_policy: custom\nquery_proj: device\nmlpwi_1: device\nmlpwi_0: remat");
  EXPECT_EQ(mixed.training().recompute_modules(), "layernorm+core_attn+out_proj+mlp_up");
  EXPECT_THAT(LeftOutOf(mixed), ElementsAre("query_proj: kept together with key_proj, value_proj",
                                            "mlpwi_1: made again with mlpwi_0"));
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(kNamed, {{"policy: full", "policy: some"}}), {}),
              HasSubstr("remat_policy is \"some\"; expected one of none, custom, full, minimal, "));
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(kNamed, {{"policy: full", "policy: custom\ncontext: there"}}), {}),
              HasSubstr("context is \"there\"; expected device, offload or remat"));
}

TEST(ForeignMaxText, PipelinesAndExpertsShareDevices) {
  const proto::Workload w = ReadText(R"(
model_name: mixtral-8x7b
per_device_batch_size: 1
max_target_length: 4096
ici_expert_parallelism: 8
ici_fsdp_parallelism: 1
ici_data_parallelism: 2
dcn_pipeline_parallelism: 4
num_pipeline_microbatches: 2
gradient_accumulation_steps: 3
)",
                                     {});
  EXPECT_EQ(w.parallel().ep(), 8);
  EXPECT_EQ(w.parallel().dp(), 16);
  EXPECT_EQ(w.parallel().pp(), 4);
  EXPECT_EQ(w.training().framework(), proto::Training::DDP);
  EXPECT_EQ(w.training().micro_batch(), 2);
  EXPECT_EQ(w.training().accumulation(), 6);
  EXPECT_THAT(LeftOutOf(w), IsEmpty());
}

TEST(ForeignMaxText, RefusesBadMeshes) {
  EXPECT_EQ(ErrorOf(absl::StrReplaceAll(kNamed, {{"tensor_parallelism: 4", "tensor_parallelism: 0"}}), {}),
            "run.conf: ici_tensor_parallelism is \"0\"; expected -1 or 1 to 65536");
  EXPECT_EQ(ErrorOf(absl::StrReplaceAll(kNamed, {{"batch_size: 2", "batch_size: 0.1"}}), {}),
            "run.conf: per_device_batch_size is \"0.1\"; expected a whole number of sequences for the 4 "
            "devices that share "
            "one (axes tensor, context and pipeline), up to 1000000");
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(kNamed, {{"llama3.1-70b", "llama9-1b"}}), {}),
              HasSubstr("model_name is \"llama9-1b\"; no preset has this id"));
  EXPECT_THAT(ErrorOf("base_emb_dim: 64\nbase_num_decoder_layers: 2\ndecoder_block: qwen3_next\n", {}),
              HasSubstr("decoder_block is \"qwen3_next\"; expected default, llama2, "));
}

// The sizes in MaxText's files are those of the presets.
TEST(ForeignMaxText, ReadsPublishedModels) {
  if (PublishedFile("maxtext/deepseek3-671b.yml").empty()) GTEST_SKIP() << "no " << CHAKRA_SHARED_DATA;
  const auto size = [](proto::Model model) {
    EXPECT_TRUE(generate::ExpandModel("", &model).ok());
    const auto resolved = generate::ResolveModel(model);
    EXPECT_TRUE(resolved.ok()) << resolved.status();
    return resolved.ok() ? generate::CountParameters(*resolved).total : 0;
  };
  proto::Model preset;
  preset.set_preset("deepseek-v3");
  const proto::Workload v3 = ReadText(PublishedFile("maxtext/deepseek3-671b.yml"), WithModel());
  EXPECT_EQ(size(v3.model()), size(preset));
  EXPECT_THAT(LeftOutOf(v3), IsEmpty());
  const proto::Workload oss = ReadText(PublishedFile("maxtext/gpt-oss-120b.yml"), WithModel());
  EXPECT_NEAR(static_cast<double>(size(oss.model())) / 1e9, 116.8, 0.1);  // published: 116.8 billion
  EXPECT_THAT(LeftOutOf(oss), IsEmpty());
  EXPECT_THAT(ErrorOf(PublishedFile("maxtext/qwen3-next-80b-a3b.yml"), WithModel()),
              HasSubstr("decoder_block"));
}

}  // namespace
}  // namespace chakra::foreign::CHAKRA_FILE
