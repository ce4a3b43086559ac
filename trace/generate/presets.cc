#include "trace/generate/presets.h"

#include "absl/strings/str_cat.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/io/settings.h"

namespace chakra::generate {
namespace {

struct Preset {
  const char* name;
  const char* sizes;  // a short form of proto::Model
  const char* source;
};

// To add a model, add a line. Sizes are those of the published checkpoint or paper; counts.h computes the
// resulting parameters.
constexpr Preset kPresets[] = {
    {"gpt3-175b",
     "layers=96,hidden=12288,heads=96,ffn=49152,gated=no,vocab=51200,tied=yes,norm=layer,bias=yes,positions="
     "2048",
     "Brown et al., \"Language Models are Few-Shot Learners\", 2020, table 2.1; vocabulary as Megatron-LM "
     "pads it"},
    {"mt-nlg-530b",
     "layers=105,hidden=20480,heads=128,ffn=81920,gated=no,vocab=51200,tied=yes,norm=layer,bias=yes,"
     "positions=2048",
     "Smith et al., \"Using DeepSpeed and Megatron to Train Megatron-Turing NLG 530B\", 2022, section 3.1"},
    {"llama2-7b", "layers=32,hidden=4096,heads=32,ffn=11008,vocab=32000",
     "meta-llama/Llama-2-7b-hf config.json"},
    {"llama2-70b", "layers=80,hidden=8192,heads=64,kv_heads=8,ffn=28672,vocab=32000",
     "meta-llama/Llama-2-70b-hf config.json"},
    {"llama3-8b", "layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,vocab=128256",
     "meta-llama/Meta-Llama-3-8B config.json"},
    {"llama3-70b", "layers=80,hidden=8192,heads=64,kv_heads=8,ffn=28672,vocab=128256",
     "meta-llama/Meta-Llama-3-70B config.json"},
    {"llama3-405b", "layers=126,hidden=16384,heads=128,kv_heads=8,ffn=53248,vocab=128256,uneven=yes",
     "meta-llama/Llama-3.1-405B config.json"},
    {"qwen3-32b", "layers=64,hidden=5120,heads=64,kv_heads=8,head_dim=128,ffn=25600,vocab=151936,qk_norm=yes",
     "Qwen/Qwen3-32B config.json"},
    {"qwen3-30b-a3b",
     "layers=48,hidden=2048,heads=32,kv_heads=4,head_dim=128,ffn=6144,vocab=151936,qk_norm=yes,experts=128,"
     "top_k=8,"
     "expert_ffn=768",
     "Qwen/Qwen3-30B-A3B config.json"},
    {"qwen3-235b-a22b",
     "layers=94,hidden=4096,heads=64,kv_heads=4,head_dim=128,ffn=12288,vocab=151936,qk_norm=yes,experts=128,"
     "top_k=8,"
     "expert_ffn=1536,uneven=yes",
     "Qwen/Qwen3-235B-A22B config.json"},
    {"mixtral-8x7b", "layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,vocab=32000,experts=8,top_k=2",
     "mistralai/Mixtral-8x7B-v0.1 config.json"},
    {"mixtral-8x22b", "layers=56,hidden=6144,heads=48,kv_heads=8,ffn=16384,vocab=32768,experts=8,top_k=2",
     "mistralai/Mixtral-8x22B-v0.3 config.json"},
    {"deepseek-v2",
     "layers=60,hidden=5120,heads=128,ffn=12288,vocab=102400,experts=160,expert_groups=8,top_groups=3,top_k="
     "6,expert_ffn=1536,shared_ffn="
     "3072,"
     "dense_layers=1,q_rank=1536,kv_rank=512,nope_dim=128,rope_dim=64,v_dim=128",
     "deepseek-ai/DeepSeek-V2 config.json"},
    {"deepseek-v3",
     "layers=61,hidden=7168,heads=128,ffn=18432,vocab=129280,experts=256,expert_groups=8,top_groups=4,top_k="
     "8,expert_ffn=2048,shared_ffn="
     "2048,"
     "dense_layers=3,uneven=yes,q_rank=1536,kv_rank=512,nope_dim=128,rope_dim=64,v_dim=128",
     "deepseek-ai/DeepSeek-V3 config.json, without multi-token prediction (mtp=1)"},
    {"kimi-k2",
     "layers=61,hidden=7168,heads=64,ffn=18432,vocab=163840,experts=384,top_k=8,expert_ffn=2048,shared_ffn="
     "2048,"
     "dense_layers=1,uneven=yes,q_rank=1536,kv_rank=512,nope_dim=128,rope_dim=64,v_dim=128",
     "moonshotai/Kimi-K2-Base config.json"},
    {"llama4-scout",
     "layers=48,hidden=5120,heads=40,kv_heads=8,head_dim=128,vocab=202048,experts=16,top_k=1,expert_ffn=8192,"
     "shared_ffn=8192,qk_norm=yes,qk_norm_bare=yes,chunk=8192,rope_layers=0-44:4+1-45:4+2-46:4",
     "meta-llama/Llama-4-Scout-17B-16E config.json, text_config; without the vision model"},
    {"llama4-maverick",
     "layers=48,hidden=5120,heads=40,kv_heads=8,head_dim=128,ffn=16384,vocab=202048,experts=128,top_k=1,moe_"
     "every=2,"
     "expert_ffn=8192,shared_ffn=8192,chunk=8192,rope_layers=0-44:4+1-45:4+2-46:4",
     "meta-llama/Llama-4-Maverick-17B-128E config.json, text_config; without the vision model"},
    {"gemma2-2b",
     "layers=26,hidden=2304,heads=8,kv_heads=4,head_dim=256,ffn=9216,vocab=256000,tied=yes,post_norm=yes,"
     "window="
     "4096,window_layers=0-24:2,score_cap=50,logit_cap=30",
     "google/gemma-2-2b config.json"},
    {"gemma2-9b",
     "layers=42,hidden=3584,heads=16,kv_heads=8,head_dim=256,ffn=14336,vocab=256000,tied=yes,post_norm=yes,"
     "window="
     "4096,window_layers=0-40:2,score_cap=50,logit_cap=30",
     "google/gemma-2-9b config.json"},
    {"gemma2-27b",
     "layers=46,hidden=4608,heads=32,kv_heads=16,head_dim=128,ffn=36864,vocab=256000,tied=yes,post_norm=yes,"
     "window="
     "4096,window_layers=0-44:2,score_cap=50,logit_cap=30",
     "google/gemma-2-27b config.json"},
    {"bert-large",
     "layers=24,hidden=1024,heads=16,ffn=4096,gated=no,vocab=30522,tied=yes,norm=layer,bias=yes,positions="
     "512,"
     "token_types=2,causal=no,pooler=yes",
     "google-bert/bert-large-uncased config.json"},
    {"vit-l-16",
     "layers=24,hidden=1024,heads=16,ffn=4096,gated=no,norm=layer,bias=yes,causal=no,image=224,patch=16,"
     "channels=3,"
     "classes=1000,positions=197",
     "Dosovitskiy et al., \"An Image is Worth 16x16 Words\", 2021, table 1"},
    {"dlrm",
     "table_rows=39884406+39043+17289+7420+20263+3+7120+1543+63+38532951+2953546+403346+10+2208+11938+155+4+"
     "976+14+39979771+25641295+39664984+585935+12972+108+36,dense_features=13,bottom=512+256+128,top=1024+"
     "1024"
     "+512+256+1",
     "MLPerf Training v0.7 to v2.1 on Criteo Terabyte: facebookresearch/dlrm, bench/run_and_time.sh "
     "(--max-ind-range=40000000)"},
    {"dlrm-dcnv2",
     "table_rows=40000000+39060+17295+7424+20265+3+7122+1543+63+40000000+3067956+405282+10+2209+11938+155+4+"
     "976+14+40000000+40000000+40000000+590152+12973+108+36,pooling=3+2+1+2+6+1+1+1+1+7+3+8+1+6+9+5+1+1+1+12+"
     "100+27+10+3+1+1,dense_features=13,bottom=512+256+128,top=1024+1024+512+256+1,cross_layers=3,cross_rank="
     "512",
     "MLPerf Training from v3.0: mlcommons/training, recommendation_v2/torchrec_dlrm README.md"},
};

}  // namespace

absl::StatusOr<proto::Model> FindPreset(absl::string_view name) {
  for (const Preset& p : kPresets) {
    if (name != p.name) continue;
    proto::Model model;
    RETURN_IF_ERROR(ReadSettings(p.sizes, name, &model));
    model.set_preset(p.name);
    model.set_source(p.source);
    return model;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no model \"", name, "\"", SuggestName(name, PresetNames())));
}

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const Preset& p : kPresets) names.emplace_back(p.name);
  return names;
}

}  // namespace chakra::generate
