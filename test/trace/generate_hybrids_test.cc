// Models whose layers have mixers of several kinds: parameters to the unit, operations, graphs,
// configurations and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/trace/generate_schedule_testing.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/counts.h"
#include "trace/generate/huggingface/hf_config.h"
#include "trace/generate/memory.h"
#include "trace/generate/presets.h"
#include "trace/generate/resolve.h"
#include "trace/generate/weights.h"
#include "trace/generate/write.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

ModelSize SizeOf(const std::string& name) {
  const auto model = FindPreset(name);
  EXPECT_TRUE(model.ok()) << model.status();
  const auto sizes = ResolveModel(*model);
  EXPECT_TRUE(sizes.ok()) << name << ": " << sizes.status();
  return sizes.ok() ? *sizes : ModelSize();
}

struct Published {
  const char* name;
  int64_t parameters, with_mtp, active;  // 0: not published
  double gflop_4096, gflop_8192;         // of training a token; 0: not published
};

// Model cards, config.json and checkpoints; operations: Megatron-LM's formula with the width of Mamba that
// the model has.
constexpr Published kPublished[] = {
    {"nemotron-3-super", 120668707840, 123611033088, 12770237440, 74.566, 75.372},
    {"nemotron-3-ultra", 549308993536, 560524603904, 56058843136, 333.196, 335.611},
    {"nemotron-3-nano-30b", 31577940288, 32913266240, 3580076352, 20.171, 20.775},
    {"nemotron-3-nano-4b", 3973556832, 0, 3973556832, 22.304, 22.807},
    {"qwen3-next-80b-a3b", 79674391296, 81324862720, 3874929408, 22.740, 23.948},
    {"qwen3.5-35b-a3b", 34660610688, 35505251456, 0, 18.935, 19.942},
    {"qwen3.5-122b-a10b", 122111526912, 124635206144, 0, 57.143, 59.559},
    {"qwen3.5-397b-a17b", 396346350336, 402941918464, 0, 101.384, 104.404},
    {"qwen3.5-27b", 26895998464, 0, 26895998464, 157.065, 159.481},
    {"qwen3.5-9b", 8953803264, 0, 8953803264, 48.726, 49.531},
    {"granite-4.0-h-small", 32207337984, 0, 8803121664, 0, 0},
    {"kimi-linear-48b-a3b", 49122681728, 0, 0, 19.681, 20.562},
    {"minimax-text-01", 456089655296, 0, 48403306496, 0, 0},
    {"lfm2-1.2b", 1170340608, 0, 0, 0, 0},
    {"deepseek-v3.2", 671877944064, 0, 0, 297.413, 0},
    // With multi-token prediction the checkpoints count the routers' biases too.
    {"glm-5", 743911199232, 753864139008 - 76 * 256, 0, 289.961, 0},
    {"glm-5.2", 743377000704, 753329940480 - 76 * 256, 0, 0, 0},
};

TEST(GenerateHybrids, HaveThePublishedParametersToTheUnit) {
  for (const Published& p : kPublished) {
    ModelSize model = SizeOf(p.name);
    const ModelParameters counted = CountParameters(model);
    EXPECT_EQ(counted.total, p.parameters) << p.name;
    if (p.active > 0) {
      EXPECT_EQ(counted.active, p.active) << p.name;
    }
    if (p.with_mtp == 0) continue;
    model.mtp = 1;
    const WeightShare further = ShareOf(DescribeFurther(WholeModel(model, 0)));
    EXPECT_EQ(counted.total + ParametersOfLayer(model, model.layers).total() + further.dense, p.with_mtp)
        << p.name;
  }
}

TEST(GenerateHybrids, HaveThePublishedOperations) {
  for (const Published& p : kPublished) {
    const ModelSize model = SizeOf(p.name);
    if (p.gflop_4096 > 0) {
      EXPECT_NEAR(TrainingFlopsPerToken(model, 4096) / 1e9, p.gflop_4096, 6e-4) << p.name;
    }
    if (p.gflop_8192 > 0) {
      EXPECT_NEAR(TrainingFlopsPerToken(model, 8192) / 1e9, p.gflop_8192, 6e-4) << p.name;
    }
  }
}

// The first trap of reports: Megatron-LM counts Mamba as if it had twice the hidden features.
TEST(GenerateHybrids, ReportsOfMegatronCountAnotherWidthOfMamba) {
  ModelSize model = SizeOf("nemotron-3-nano-30b");
  model.mamba.heads = 2 * model.hidden / model.mamba.head_dim;
  EXPECT_NEAR(TrainingFlopsPerToken(model, 8192) / 1e9, 22.28, 0.01);
}

constexpr char kHybrid[] =
    "pattern=MEM*GKLC-E,hidden=512,heads=8,kv_heads=4,ffn=1024,vocab=4096,gated=no,rope=no,mamba_heads=16,"
    "mamba_head_dim=64,mamba_state=64,experts=8,top_k=2,expert_ffn=256,shared_ffn=512,expert_latent=128,"
    "router_bias=yes,linear_key_heads=8,linear_key_dim=64";
constexpr char kSparse[] =
    "layers=8,hidden=512,heads=8,ffn=1024,vocab=4096,kv_rank=64,q_rank=128,nope_dim=32,rope_dim=16,v_dim=32,"
    "index_topk=128,index_heads=4,index_dim=32,index_layers=0-1+4";
constexpr char kDelta[] =
    "layers=8,mixers=GGG*,hidden=512,heads=8,kv_heads=4,qk_norm=yes,attention_gate=yes,vocab=4096,experts=8,"
    "top_k=2,expert_ffn=256,shared_ffn=256,shared_gate=yes,linear_key_heads=8,linear_value_heads=16,"
    "linear_key_dim=32";

StepGraphs GraphsOf(const std::string& model, const std::string& parallel, const std::string& training) {
  const auto step = BuildStep(PlanOf(model, parallel, training));
  EXPECT_TRUE(step.ok()) << step.status();
  return step.ok() ? *step : StepGraphs();
}

// The weights of all stages are the model, and of a rank of tp its share.
TEST(GenerateHybrids, HoldEachParameterOnce) {
  for (const char* model : {kHybrid, kDelta, kSparse}) {
    for (const char* parallel : {"", "pp=2", "pp=2,schedule=zb-h1"}) {
      const StepGraphs step = GraphsOf(model, parallel, "seq=512,global_batch=4");
      int64_t sum = 0;
      for (const StageGraph& stage : step.stages) sum += stage.weights + stage.expert_weights;
      // Without the biases of both routers, which no gradient trains.
      const int64_t biases = step.plan.model.router_bias ? 2 * step.plan.model.experts : 0;
      EXPECT_EQ(sum, CountParameters(step.plan.model).total - biases) << model << "|" << parallel;
    }
    // A layer of multi-token prediction has attention, whatever the last layer has.
    const StepGraphs step = GraphsOf(absl::StrCat(model, ",mtp=1"), "", "seq=512");
    const int64_t more =
        step.stages[0].weights + step.stages[0].expert_weights - CountParameters(step.plan.model).total;
    const StepPlan whole = WholeModel(step.plan.model, 0);
    const WeightShare further = ShareOfLayer(whole, whole.model.layers);
    const int64_t biases = step.plan.model.router_bias ? 2 * step.plan.model.experts : 0;
    EXPECT_EQ(more, further.dense + further.expert - biases) << model;
  }
}

// What is recomputed runs the forward kernels again, and nothing else; each pass of a rank of tp or cp has
// the operations of its share.
TEST(GenerateHybrids, SplitsTheOperationsOfMixers) {
  const auto operations = [](const StepGraphs& step, const char* phase) {
    double sum = 0;
    for (const StageGraph& stage : step.stages) {
      for (const StepNode& n : stage.nodes) {
        if (n.type == NodeType::kComp && std::string(n.spot.phase) == phase &&
            absl::StrContains(n.spot.part, ".core"))
          sum += static_cast<double>(stage.operators[n.op].operations);
      }
    }
    return sum;
  };
  for (const char* model : {"pattern=MMMM,hidden=512,heads=8,vocab=4096,mamba_heads=16,mamba_head_dim=64",
                            "layers=4,mixers=G,hidden=512,heads=8,ffn=512,vocab=4096,linear_key_heads=8",
                            "layers=4,mixers=K,hidden=512,heads=8,ffn=512,vocab=4096,linear_key_heads=8",
                            "layers=4,mixers=L,hidden=512,heads=8,ffn=512,vocab=4096"}) {
    const double one = operations(GraphsOf(model, "", "seq=1024"), "forward");
    EXPECT_GT(one, 0) << model;
    EXPECT_NEAR(operations(GraphsOf(model, "tp=2", "seq=1024"), "forward") / one, 0.5, 0.01) << model;
    EXPECT_NEAR(operations(GraphsOf(model, "cp=2", "seq=1024"), "forward") / one, 0.5, 0.01) << model;
    EXPECT_EQ(operations(GraphsOf(model, "", "seq=1024,recompute=full"), "recompute"), one) << model;
    EXPECT_GT(operations(GraphsOf(model, "", "seq=1024"), "backward"), 1.5 * one) << model;
  }
}

// Mamba-2 with cp: five exchanges before the convolution and one after the norm, and as many back.
TEST(GenerateHybrids, ExchangesBetweenRanksOfCp) {
  const StepGraphs step = GraphsOf(
      "pattern=M,hidden=512,heads=8,vocab=4096,mamba_heads=16,mamba_head_dim=64,mamba_state=64,mamba_groups="
      "2",
      "cp=4", "seq=1024");
  std::vector<int64_t> bytes;
  for (const StepNode& n : step.stages[0].nodes) {
    if (n.type == NodeType::kCollective && n.group == GroupKind::kContext &&
        std::string(n.spot.phase) == "forward")
      bytes.push_back(n.bytes / (2 * 256));  // features of the 256 tokens of a rank
  }
  EXPECT_EQ(bytes, (std::vector<int64_t>{1024, 1024, 4 * 64, 4 * 64, 16, 1024}));
}

// Sparse attention: operations of the core stop growing with the sequence; those of the indexer do not.
TEST(GenerateHybrids, SeesOnlyTheKeysOfTheIndexer) {
  const auto operations = [](int64_t seq, absl::string_view part) {
    double sum = 0;
    const StepGraphs step = GraphsOf(kSparse, "", absl::StrCat("seq=", seq));
    for (const StepNode& n : step.stages[0].nodes) {
      if (n.type == NodeType::kComp && std::string(n.spot.phase) == "forward" && n.spot.part == part)
        sum += static_cast<double>(step.stages[0].operators[n.op].operations);
    }
    return sum / static_cast<double>(seq);
  };
  EXPECT_NEAR(operations(8192, "attention.core") / operations(4096, "attention.core"), 1, 0.02);
  EXPECT_NEAR(operations(128, "attention.core") / operations(64, "attention.core"), 2, 0.05);
  const double pairs = 4096.0 / 2 * 4 * 33 * 2 * 3;  // of a token: keys, heads, features, and three indexers
  EXPECT_NEAR(operations(8192, "index.score") - operations(4096, "index.score"), pairs, 0.05 * pairs);
}

// Experts get rows of latent features: a quarter of the bytes of dispatch.
TEST(GenerateHybrids, SendsLatentFeaturesToExperts) {
  const auto sent = [](const std::string& model) {
    int64_t bytes = 0;
    const StepGraphs step = GraphsOf(model, "dp=4,ep=4,dispatcher=alltoall", "seq=512");
    for (const StepNode& n : step.stages[0].nodes) {
      if (n.type == NodeType::kCollective && n.group == GroupKind::kExpert &&
          n.collective == CollectiveType::kAllToAll)
        bytes += n.bytes;
    }
    return bytes;
  };
  std::string full = kHybrid;
  full.replace(full.find("expert_latent=128"), 17, "expert_latent=0");
  EXPECT_EQ(4 * sent(kHybrid), sent(full));
}

// By hand: a Mamba layer keeps the input of its norm, the norm's output, the output of the first GEMM, the
// output before and after the gated norm, and the sums of that norm.
TEST(GenerateHybrids, KeepsWhatTheBackwardPassReads) {
  const StepPlan plan = PlanOf(
      "pattern=MM,hidden=512,heads=8,vocab=4096,mamba_heads=16,mamba_head_dim=64,mamba_state=64,mamba_groups="
      "2",
      "", "seq=1000");
  const int64_t inner = 1024, wide = 2 * inner + 2 * 2 * 64 + 16;
  EXPECT_EQ(ActivationsOfLayer(plan, 0), 1000 * (2 * (2 * 512 + wide + 2 * inner) + 4 * 2));
}

TEST(GenerateHybrids, ErrorsNameTheField) {
  const struct {
    const char *model, *parallel, *error;
  } cases[] = {
      {"pattern=MXM,hidden=512,heads=8,vocab=4096", "",
       "model.pattern has \"X\" at position 1; expected * attention"},
      {"layers=4,pattern=MM,hidden=512,heads=8,vocab=4096", "",
       "model.pattern has 2 letters; expected as many as model.layers, 4"},
      {"layers=4,mixers=GG*,hidden=512,heads=8,vocab=4096,ffn=512", "",
       "model.mixers has 3 letters; expected a divisor of model.layers, 4"},
      {"layers=4,mixers=G-,hidden=512,heads=8,vocab=4096,ffn=512", "",
       "model.mixers has \"-\" at position 1"},
      {"pattern=ME,hidden=512,heads=8,vocab=4096", "", "model.experts is missing"},
      {"pattern=M,hidden=512,heads=8,vocab=4096", "", "model.mamba_heads is missing"},
      {"pattern=M,hidden=512,heads=8,vocab=4096,mamba_heads=12,mamba_head_dim=64,mamba_groups=8", "",
       "model.mamba_groups is 8; expected a divisor of model.mamba_heads, 12"},
      {"pattern=MM,hidden=512,heads=8,vocab=4096,mamba_heads=12,mamba_head_dim=64,mamba_groups=4", "tp=8",
       "parallel.tp is 8; expected a divisor of model.mamba_heads, 12"},
      {"layers=4,mixers=G,hidden=512,heads=8,vocab=4096,ffn=512,linear_key_heads=6", "cp=4",
       "parallel.tp * parallel.cp is 4; expected a divisor of model.linear_key_heads, 6"},
      {"layers=2,hidden=512,heads=8,ffn=512,vocab=4096,index_topk=64", "",
       "model.index_topk is 64; expected 0, or causal latent attention"},
      {"layers=2,hidden=512,heads=8,ffn=512,vocab=4096,index_heads=4", "", "expected model.index_topk too"},
      {"pattern=M-,hidden=512,heads=8,vocab=4096,mamba_heads=8,mamba_head_dim=64", "",
       "model.ffn is missing"},
  };
  EXPECT_THAT(ErrorOf(absl::StrCat("hidden=512,heads=8,vocab=4096,ffn=512,pattern=", std::string(1025, '*')),
                      "", "seq=512"),
              HasSubstr("model.pattern has 1025 letters; expected at most 1024"));
  for (const auto& c : cases)
    EXPECT_THAT(ErrorOf(c.model, c.parallel, "seq=512"), HasSubstr(c.error)) << c.model;
}

// A config.json gives the sizes of the preset.
TEST(GenerateHybrids, ReadsConfigurations) {
  const std::map<std::string, std::string> cases = {
      {"qwen3-next-80b-a3b",
       R"({"model_type":"qwen3_next","num_hidden_layers":48,"hidden_size":2048,"num_attention_heads":16,
        "num_key_value_heads":2,"head_dim":256,"intermediate_size":5120,"vocab_size":151936,"num_experts":512,
        "num_experts_per_tok":10,"moe_intermediate_size":512,"shared_expert_intermediate_size":512,
        "full_attention_interval":4,"linear_num_key_heads":16,"linear_num_value_heads":32,
        "linear_key_head_dim":128,"linear_value_head_dim":128,"linear_conv_kernel_dim":4})"},
      {"nemotron-3-nano-30b",
       R"({"model_type":"nemotron_h","hybrid_override_pattern":"MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
        "num_hidden_layers":52,"hidden_size":2688,"num_attention_heads":32,"num_key_value_heads":2,"head_dim":128,
        "vocab_size":131072,"mamba_num_heads":64,"mamba_head_dim":64,"ssm_state_size":128,"n_groups":8,
        "n_routed_experts":128,"num_experts_per_tok":6,"moe_intermediate_size":1856,"n_shared_experts":1,
        "moe_shared_expert_intermediate_size":3712})"},
      {"kimi-linear-48b-a3b",
       R"({"model_type":"kimi_linear","num_hidden_layers":27,"hidden_size":2304,"num_attention_heads":32,
        "intermediate_size":9216,"vocab_size":163840,"kv_lora_rank":512,"q_lora_rank":null,"qk_nope_head_dim":128,
        "qk_rope_head_dim":64,"v_head_dim":128,"mla_use_nope":true,"num_experts":256,"num_experts_per_token":8,
        "moe_intermediate_size":1024,"num_shared_experts":1,"first_k_dense_replace":1,"moe_layer_freq":1,
        "linear_attn_config":{"kda_layers":[1,2,3,5,6,7,9,10,11,13,14,15,17,18,19,21,22,23,25,26],
        "full_attn_layers":[4,8,12,16,20,24,27],"num_heads":32,"head_dim":128,"short_conv_kernel_size":4}})"},
      {"lfm2-1.2b",
       R"({"model_type":"lfm2","num_hidden_layers":16,"hidden_size":2048,"num_attention_heads":32,
        "num_key_value_heads":8,"vocab_size":65536,"conv_L_cache":3,"block_ff_dim":12288,"block_multiple_of":256,
        "block_ffn_dim_multiplier":1.0,"block_auto_adjust_ff_dim":true,"layer_types":["conv","conv",
        "full_attention","conv","conv","full_attention","conv","conv","full_attention","conv","full_attention",
        "conv","full_attention","conv","full_attention","conv"]})"},
  };
  for (const auto& [preset, text] : cases) {
    const auto read = ParseHuggingFaceConfig(text, "config.json");
    ASSERT_TRUE(read.ok()) << read.status();
    const auto sizes = ResolveModel(*read);
    ASSERT_TRUE(sizes.ok()) << preset << ": " << sizes.status();
    EXPECT_EQ(CountParameters(*sizes).total, CountParameters(SizeOf(preset)).total) << preset;
    EXPECT_EQ(TrainingFlopsPerToken(*sizes, 4096), TrainingFlopsPerToken(SizeOf(preset), 4096)) << preset;
  }
}

TEST(GenerateHybrids, RefusesConfigurationsThatDoNotFit) {
  const struct {
    const char *text, *error;
  } cases[] = {
      {R"({"model_type":"nemotron_h","hybrid_override_pattern":"MEX","hidden_size":64,"num_attention_heads":4,
        "vocab_size":64,"mamba_num_heads":4,"mamba_head_dim":16,"n_routed_experts":4,"num_experts_per_tok":1,
        "moe_intermediate_size":32})",
       "model.pattern has \"X\""},
      {R"({"model_type":"qwen3_5_text","num_hidden_layers":2,"hidden_size":64,"num_attention_heads":4,
        "intermediate_size":64,"vocab_size":64,"layer_types":["linear_attention","sliding"]})",
       "layer_types, entry 1: expected one of linear_attention, full_attention"},
      {R"({"model_type":"qwen3_5_text","num_hidden_layers":3,"hidden_size":64,"num_attention_heads":4,
        "intermediate_size":64,"vocab_size":64,"layer_types":["linear_attention"]})",
       "layer_types has 1 entries; expected num_hidden_layers, 3"},
      {R"({"model_type":"kimi_linear","num_hidden_layers":2,"hidden_size":64,"num_attention_heads":4,
        "intermediate_size":64,"vocab_size":64,"kv_lora_rank":16,"qk_nope_head_dim":16,"qk_rope_head_dim":8,
        "v_head_dim":16,"num_experts":4,"num_experts_per_token":1,"moe_intermediate_size":32,
        "linear_attn_config":{"kda_layers":[3],"num_heads":4,"head_dim":16}})",
       "kda_layers, entry 0: expected a layer from 1 to 2"},
  };
  for (const auto& c : cases) {
    auto read = ParseHuggingFaceConfig(c.text, "config.json");
    const std::string error(read.ok() ? ResolveModel(*read).status().message() : read.status().message());
    EXPECT_THAT(error, HasSubstr(c.error));
  }
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
