#include "trace/generate/huggingface/hf_config.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/generate/huggingface/hf_keys.h"
#include "trace/generate/huggingface/hf_kinds.h"
#include "trace/generate/sizes.h"
#include "trace/io/file.h"
#include "trace/io/json_value.h"
#include "trace/io/settings.h"

namespace chakra::generate {
namespace {

constexpr size_t kMostConfigBytes = size_t{16} << 20;

using Keys = ConfigKeys;

// Sizes that have the same names in most kinds.
void StackSizes(Keys& k, proto::Model* m) {
  m->set_layers(k.Size("num_hidden_layers"));
  m->set_hidden(k.Size("hidden_size"));
  m->set_heads(k.Size("num_attention_heads"));
}

void ReadLlama(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, false, m);
  ReadNoWindows(k);
}

void ReadMistral(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, false, m);
  ReadWindows(k, {4096}, m);
}

void Qwen2(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, false, m);
  m->set_qkv_bias(true);  // the class ignores the file's value
}

void ReadQwen2(Keys& k, proto::Model* m) {
  Qwen2(k, m);
  ReadWindows(k, {4096, true, WindowRule::kFromMost}, m);
}

void Qwen3(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, false, m);
  if (!k.Has("head_dim")) m->set_head_dim(128);  // default of the class
  m->set_qk_norm(true);
}

void ReadQwen3(Keys& k, proto::Model* m) {
  Qwen3(k, m);
  ReadWindows(k, {4096, true, WindowRule::kFromMost}, m);
}

// Caps of scores and logits. A missing key has the class's default; null means none.
void ReadCaps(Keys& k, double score, double logit, proto::Model* m) {
  const double scores = k.IsNull("attn_logit_softcapping") ? 0 : k.RealOr("attn_logit_softcapping", score);
  const double logits = k.IsNull("final_logit_softcapping") ? 0 : k.RealOr("final_logit_softcapping", logit);
  if (scores > 0) m->set_score_cap(scores);
  if (logits > 0) m->set_logit_cap(logits);
}

void ReadGemma(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, true, m, "gelu_pytorch_tanh");
  if (!k.Has("head_dim")) m->set_head_dim(256);
  ReadNoWindows(k);
}

void ReadGemma3(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, true, m, "gelu_pytorch_tanh");
  if (!k.Has("head_dim")) m->set_head_dim(256);
  m->set_qk_norm(true);
  m->set_post_norm(true);
  ReadCaps(k, 0, 0, m);
  ReadWindows(k, {4096, false, WindowRule::kAllButEach, 6}, m);
}

// gpt-oss: biases everywhere except in the head, a learned score in addition to those of the keys, and a
// window in every other layer.
void ReadGptOss(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, false, m);
  if (!k.Has("head_dim")) m->set_head_dim(64);
  if (!k.FlagOr("attention_bias", true))
    k.Refuse("attention_bias", "attention_bias is false; expected true, as gpt-oss has biases");
  m->set_bias(true);
  m->set_sinks(true);
  m->set_experts(k.Has("num_experts") ? k.Size("num_experts") : k.SizeOr("num_local_experts", 128));
  m->set_top_k(k.SizeOr("num_experts_per_tok", 4));
  ReadWindows(k, {128, false, WindowRule::kAllButEach, 2}, m);
}

// Llama 4: experts in every N-th layer, with a shared expert for all tokens; chunks of attention in layers
// with rotary positions.
void ReadLlama4(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, false, m);
  if (!k.Has("head_dim")) m->set_head_dim(128);
  m->set_expert_ffn(m->ffn());
  m->set_shared_ffn(m->ffn());
  m->set_experts(k.SizeOr("num_local_experts", 16));
  m->set_top_k(k.SizeOr("num_experts_per_tok", 1));
  m->clear_ffn();
  const int64_t each = k.SizeOr("interleave_moe_layer_step", 1);
  if (each > 1) {
    m->set_moe_every(each);
    m->set_ffn(k.SizeOr("intermediate_size_mlp", 16384));
  }
  const JsonValue* listed = k.IsEmpty("moe_layers") ? nullptr : k.List("moe_layers");
  for (size_t i = 0; listed != nullptr && each > 0 && i < listed->items.size(); ++i) {
    const JsonValue& v = listed->items[i];
    const int64_t rule = (static_cast<int64_t>(i) + 1) * each - 1;
    int64_t layer = -1;
    if (!v.is(JsonValue::Kind::kNumber) || !v.ToInt64(&layer) || layer != rule)
      k.RefuseAt(v, absl::StrCat("moe_layers, entry ", i, ": expected ", rule,
                                 ", each interleave_moe_layer_step-th layer"));
  }
  if (listed != nullptr && each > 0 && static_cast<int64_t>(listed->items.size()) != m->layers() / each)
    k.Refuse("moe_layers", absl::StrCat("moe_layers has ", listed->items.size(), " entries; expected ",
                                        m->layers() / each, ", each interleave_moe_layer_step-th layer"));
  if (k.FlagOr("use_qk_norm", true)) {
    m->set_qk_norm(true);
    m->set_qk_norm_bare(true);
  }
  const std::vector<int> turned = TurnedLayers(k, m->layers());
  if (static_cast<int64_t>(turned.size()) < m->layers()) m->set_rope_layers(WindowLayers(turned));
  const int64_t chunk = k.IsNull("attention_chunk_size") ? 0 : k.SizeOr("attention_chunk_size", 8192);
  const JsonValue* types = k.List("layer_types");
  const std::vector<int> chunked =
      types == nullptr ? turned : ListedLayers(k, *types, m->layers(), "chunked_attention");
  if (chunk == 0 || chunked.empty()) return;
  m->set_chunk(chunk);
  if (chunked != turned) m->set_chunk_layers(WindowLayers(chunked));
}

void ReadMixtral(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, false, m);
  ReadWindows(k, {}, m);
  m->set_experts(k.Has("num_experts") ? k.Size("num_experts") : k.SizeOr("num_local_experts", 8));
  m->set_top_k(k.SizeOr("num_experts_per_tok", 2));
}

void ReadQwen2Moe(Keys& k, proto::Model* m) {
  Qwen2(k, m);
  ReadWindows(k, {4096, true, WindowRule::kOddBelowMost}, m);
  ReadQwenExperts(k, true, m);
}

void ReadQwen3Moe(Keys& k, proto::Model* m) {
  Qwen3(k, m);
  ReadWindows(k, {4096, true}, m);
  ReadQwenExperts(k, false, m);
}

void RoutedExperts(Keys& k, proto::Model* m) {
  m->set_experts(k.Size("n_routed_experts"));
  m->set_top_k(k.Size("num_experts_per_tok"));
  m->set_expert_groups(k.SizeOr("n_group", 1));
  m->set_top_groups(k.SizeOr("topk_group", m->expert_groups()));
  m->set_expert_ffn(k.Size("moe_intermediate_size"));
  m->set_shared_ffn(k.SizeOr("n_shared_experts", 0) * m->expert_ffn());
  m->set_dense_layers(k.SizeOr("first_k_dense_replace", 0));
  m->set_moe_every(k.SizeOr("moe_layer_freq", 1));
}

void ReadDeepSeek(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, false, m);
  ReadNoWindows(k);
  m->clear_head_dim();  // only the part with rotary positions
  m->set_kv_heads(m->heads());
  m->set_kv_rank(k.Size("kv_lora_rank"));
  if (k.Has("q_lora_rank")) m->set_q_rank(k.Size("q_lora_rank"));
  m->set_nope_dim(k.Size("qk_nope_head_dim"));
  m->set_rope_dim(k.Size("qk_rope_head_dim"));
  m->set_v_dim(k.Size("v_head_dim"));
  m->set_mtp(k.SizeOr("num_nextn_predict_layers", 0));
  m->set_uneven(true);  // 61 layers of DeepSeek-V3 and Kimi-K2 were trained on 16 stages
  if (k.Has("n_routed_experts")) RoutedExperts(k, m);
}

// DeepSeek V3.2 and GLM-5: latent attention over the keys that an indexer chooses. GLM-5.2 has an indexer in
// each index_topk_freq-th layer, and in the first ones.
void ReadSparse(Keys& k, proto::Model* m) {
  ReadDeepSeek(k, m);
  m->set_index_topk(k.Size("index_topk"));
  m->set_index_heads(k.Size("index_n_heads"));
  m->set_index_dim(k.SizeOr("index_head_dim", 128));
  m->set_router_bias(true);
  const int64_t each = k.SizeOr("index_topk_freq", 1), first = k.SizeOr("index_skip_topk_offset", 3);
  if (each <= 1) return;
  std::vector<int> layers;
  for (int64_t i = 0; i < std::min<int64_t>(m->layers(), 1024); ++i) {
    if (i < first || (i - first) % each == each - 1) layers.push_back(static_cast<int>(i));
  }
  m->set_index_layers(WindowLayers(layers));
}

// GLM-4.5: DeepSeek's experts after ordinary attention.
void ReadGlm4Moe(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, false, m);
  m->set_qk_norm(k.FlagOr("use_qk_norm", false));
  m->set_mtp(k.SizeOr("num_nextn_predict_layers", 0));
  RoutedExperts(k, m);
  ReadNoWindows(k);
}

void ReadPhi3(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, false, m);
  ReadWindows(k, {}, m);
}

// GLM-4: the later of its two classes also has norms after attention and the MLP.
void ReadGlm(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, false, m);
  ReadNoWindows(k);
}

void ReadGlm4(Keys& k, proto::Model* m) {
  ReadGlm(k, m);
  m->set_post_norm(true);
}

// OLMo 2: norms only after attention and the MLP; one norm of the queries of all heads, and one of the keys.
void ReadOlmo2(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, false, m);
  ReadNoWindows(k);
  m->set_pre_norm(false);
  m->set_post_norm(true);
  m->set_qk_norm(true);
  m->set_qk_norm_wide(true);
}

// Command R: attention and the MLP share one norm, which has only weights.
void ReadCohere(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, true, m);
  ReadNoWindows(k);
  m->set_norm(proto::Model::LAYER);
  m->set_norm_bias(false);
  m->set_shared_norm(true);
  if (k.FlagOr("use_qk_norm", false))
    k.Refuse("use_qk_norm",
             "use_qk_norm: norms with weights for each head are not generated yet; known: false");
}

// Gemma 2: norms and windows are those of Gemma 3, without norms of queries and keys.
void ReadGemma2(Keys& k, proto::Model* m) {
  ReadLlamaKeys(k, true, m, "gelu_pytorch_tanh");
  if (!k.Has("head_dim")) m->set_head_dim(256);
  m->set_post_norm(true);
  ReadCaps(k, 50, 30, m);
  ReadWindows(k, {4096, false, WindowRule::kAllButEach, 2}, m);
}

// Older kinds: LayerNorm, biases, no gate.
void Older(proto::Model* m) {
  m->set_gated(false);
  m->set_norm(proto::Model::LAYER);
  m->set_bias(true);
}

void ReadGpt2(Keys& k, proto::Model* m) {
  m->set_layers(k.Size("n_layer"));
  m->set_hidden(k.Size("n_embd"));
  m->set_heads(k.Size("n_head"));
  m->set_ffn(k.SizeOr("n_inner", 4 * m->hidden()));
  m->set_vocab(k.Size("vocab_size"));
  m->set_positions(k.Size("n_positions"));
  m->set_tied(k.FlagOr("tie_word_embeddings", true));
  Older(m);
}

// Sizes that have the same names in encoders and NeoX.
void LayerSizes(Keys& k, proto::Model* m) {
  StackSizes(k, m);
  m->set_ffn(k.Size("intermediate_size"));
}

void ReadNeoX(Keys& k, proto::Model* m) {
  LayerSizes(k, m);
  m->set_vocab(k.Size("vocab_size"));
  m->set_tied(k.FlagOr("tie_word_embeddings", false));
  Older(m);
}

// Falcon: attention and the MLP in parallel. In the new architecture each has its own norm; before, they
// share one.
void ReadFalcon(Keys& k, proto::Model* m) {
  StackSizes(k, m);
  m->set_ffn(k.SizeOr("ffn_hidden_size", 4 * m->hidden()));
  m->set_vocab(k.Size("vocab_size"));
  m->set_tied(k.FlagOr("tie_word_embeddings", true));
  Older(m);
  m->set_bias(k.FlagOr("bias", false));
  m->set_rope(!k.FlagOr("alibi", false));
  const bool later = k.FlagOr("new_decoder_architecture", false);
  const bool one_key = k.FlagOr("multi_query", true);
  m->set_kv_heads(later ? k.SizeOr("num_kv_heads", m->heads()) : one_key ? 1 : m->heads());
  const int64_t norms = k.SizeOr("num_ln_in_parallel_attn", later ? 2 : 1);
  m->set_shared_norm((later || k.FlagOr("parallel_attn", true)) && norms == 1);
}

// BLOOM: positions by a slope for each head (ALiBi), which the attention kernels add to their scores.
void ReadBloom(Keys& k, proto::Model* m) {
  m->set_layers(k.Size(k.Has("n_layer") ? "n_layer" : "num_hidden_layers"));
  m->set_hidden(k.Size(k.Has("n_embed") ? "n_embed" : "hidden_size"));
  m->set_heads(k.Size(k.Has("n_head") ? "n_head" : "num_attention_heads"));
  m->set_ffn(4 * m->hidden());
  m->set_vocab(k.Size("vocab_size"));
  m->set_tied(k.FlagOr("tie_word_embeddings", true));
  Older(m);
  m->set_rope(false);
  m->set_embedding_norm(true);
}

void ReadOpt(Keys& k, proto::Model* m) {
  StackSizes(k, m);
  m->set_ffn(k.Size("ffn_dim"));
  m->set_vocab(k.Size("vocab_size"));
  m->set_positions(k.Size("max_position_embeddings") + 2);  // offset of the class
  m->set_tied(k.FlagOr("tie_word_embeddings", true));
  Older(m);
  m->set_bias(k.FlagOr("enable_bias", true));
  if (!k.FlagOr("do_layer_norm_before", true))
    k.Refuse("do_layer_norm_before", "do_layer_norm_before is false: not generated yet; known: true");
  if (k.SizeOr("word_embed_proj_dim", m->hidden()) != m->hidden())
    k.Refuse("word_embed_proj_dim",
             "word_embed_proj_dim: embeddings of another width are not generated yet; known: "
             "hidden_size");
}

void ReadPhi(Keys& k, proto::Model* m) {
  LayerSizes(k, m);
  m->set_kv_heads(k.SizeOr("num_key_value_heads", m->heads()));
  m->set_vocab(k.Size("vocab_size"));
  m->set_tied(k.FlagOr("tie_word_embeddings", false));
  Older(m);
  m->set_shared_norm(true);
  m->set_head_bias(true);
  m->set_qk_norm(k.FlagOr("qk_layernorm", false));
}

void ReadStarcoder2(Keys& k, proto::Model* m) {
  LayerSizes(k, m);
  m->set_kv_heads(k.SizeOr("num_key_value_heads", 2));
  m->set_vocab(k.Size("vocab_size"));
  m->set_tied(k.FlagOr("tie_word_embeddings", true));
  Older(m);
  m->set_bias(k.FlagOr("use_bias", true));
  ReadWindows(k, {4096}, m);
}

void ReadBert(Keys& k, proto::Model* m) {
  ReadNeoX(k, m);
  m->set_tied(k.FlagOr("tie_word_embeddings", true));
  m->set_positions(k.Size("max_position_embeddings"));
  m->set_token_types(k.SizeOr("type_vocab_size", 2));
  m->set_causal(false);
  m->set_pooler(true);
}

void ReadVit(Keys& k, proto::Model* m) {
  LayerSizes(k, m);
  m->set_image(k.Size("image_size"));
  m->set_patch(k.Size("patch_size"));
  m->set_channels(k.SizeOr("num_channels", 3));
  m->set_classes(k.SizeOr("num_labels", 1000));
  m->set_causal(false);
  Older(m);
  m->set_qkv_bias(k.FlagOr("qkv_bias", true));
  const int64_t side = m->patch() > 0 ? m->image() / m->patch() : 0;
  m->set_positions(side * side + 1);
}

struct Kind {
  const char* type;          // model_type
  const char* architecture;  // prefix of the class's name
  void (*read)(Keys&, proto::Model*);
};

// To add a kind, add a line, and a reader if none fits.
constexpr Kind kKinds[] = {
    {"llama4", "Llama4", ReadLlama4},
    {"llama4_text", "Llama4", ReadLlama4},
    {"llama", "Llama", ReadLlama},
    {"mistral", "Mistral", ReadMistral},
    {"mixtral", "Mixtral", ReadMixtral},
    {"qwen2", "Qwen2For", ReadQwen2},
    {"qwen2_moe", "Qwen2Moe", ReadQwen2Moe},
    {"qwen3", "Qwen3For", ReadQwen3},
    {"qwen3_moe", "Qwen3Moe", ReadQwen3Moe},
    {"deepseek_v2", "DeepseekV2", ReadDeepSeek},
    {"deepseek_v3", "DeepseekV3", ReadDeepSeek},
    {"kimi_k2", "KimiK2", ReadDeepSeek},
    {"deepseek_v32", "DeepseekV32", ReadSparse},
    {"glm_moe_dsa", "GlmMoeDsa", ReadSparse},
    {"gpt_oss", "GptOss", ReadGptOss},
    {"qwen3_next", "Qwen3Next", ReadQwen3Next},
    {"qwen3_5_text", "Qwen3_5For", ReadQwen35},
    {"qwen3_5", "Qwen3_5For", ReadQwen35},
    {"qwen3_5_moe_text", "Qwen3_5Moe", ReadQwen35},
    {"qwen3_5_moe", "Qwen3_5Moe", ReadQwen35},
    {"nemotron_h", "NemotronH", ReadNemotronH},
    {"granitemoehybrid", "GraniteMoeHybrid", ReadGraniteHybrid},
    {"lfm2", "Lfm2For", ReadLfm2},
    {"kimi_linear", "KimiLinear", ReadKimiLinear},
    {"minimax_text_01", "MiniMaxText01", ReadMiniMax},
    {"minimax", "MiniMaxFor", ReadMiniMax},
    {"gemma", "GemmaFor", ReadGemma},
    {"gemma3_text", "Gemma3For", ReadGemma3},
    {"glm4_moe", "Glm4Moe", ReadGlm4Moe},
    {"glm4", "Glm4For", ReadGlm4},
    {"glm", "GlmFor", ReadGlm},
    {"olmo2", "Olmo2", ReadOlmo2},
    {"cohere", "CohereFor", ReadCohere},
    {"gemma2", "Gemma2For", ReadGemma2},
    {"phi3", "Phi3", ReadPhi3},
    {"phi", "PhiFor", ReadPhi},
    {"falcon", "Falcon", ReadFalcon},
    {"bloom", "Bloom", ReadBloom},
    {"opt", "OPT", ReadOpt},
    {"starcoder2", "Starcoder2", ReadStarcoder2},
    {"gpt2", "GPT2", ReadGpt2},
    {"gpt_neox", "GPTNeoX", ReadNeoX},
    {"bert", "Bert", ReadBert},
    {"vit", "ViT", ReadVit},
};

const Kind* FindKind(const std::string& type, absl::string_view architecture) {
  for (const Kind& k : kKinds) {
    if (type.empty() ? absl::StartsWith(architecture, k.architecture) : type == k.type) return &k;
  }
  return nullptr;
}

absl::StatusOr<proto::Model> ReadObject(const JsonReader& reader, const JsonValue& object,
                                        absl::string_view name) {
  Keys keys(reader, object);
  const std::string type = keys.TextOr("model_type", "");
  if (!keys.status().ok()) return keys.status();
  const JsonValue* classes = object.Find("architectures");
  const std::string architecture =
      classes != nullptr && !classes->items.empty() ? classes->items[0].text : std::string();
  const Kind* kind = FindKind(type, architecture);
  if (kind == nullptr) {
    std::vector<std::string> known;
    for (const Kind& k : kKinds) known.emplace_back(k.type);
    const JsonValue* at = object.Find("model_type");
    return reader.Error(
        at == nullptr ? object.begin : at->begin,
        type.empty() && architecture.empty()
            ? std::string("\"model_type\" is missing; expected the kind of the model")
            : absl::StrCat("model_type is \"", type.empty() ? architecture : type, "\", which is unknown",
                           SuggestName(type.empty() ? architecture : type, known)));
  }
  proto::Model model;
  kind->read(keys, &model);
  if (!keys.status().ok()) return keys.status();
  model.set_config(std::string(name));
  model.set_source(std::string(name));
  if (absl::Status s = CheckSettings(model, ""); !s.ok())
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", s.message()));
  return model;
}

}  // namespace

void ReadLlamaKeys(ConfigKeys& k, bool tied, proto::Model* m, absl::string_view act) {
  StackSizes(k, m);
  m->set_kv_heads(k.SizeOr("num_key_value_heads", m->heads()));
  if (k.Has("head_dim")) m->set_head_dim(k.Size("head_dim"));
  m->set_ffn(k.Size("intermediate_size"));
  m->set_vocab(k.Size("vocab_size"));
  m->set_tied(k.FlagOr("tie_word_embeddings", tied));
  const std::string own = k.TextOr(k.Has("hidden_activation") ? "hidden_activation" : "hidden_act", act);
  const bool gelu = absl::StartsWith(act, "gelu");
  if (gelu ? !absl::StartsWith(own, "gelu") : own != act && own != "swish")
    k.Refuse(k.Has("hidden_activation") ? "hidden_activation" : "hidden_act",
             absl::StrCat("hidden_act is \"", own, "\"; expected ", act));
  if (k.FlagOr("attention_bias", false)) m->set_qkv_bias(true);
}

void ReadQwenExperts(ConfigKeys& k, bool shared, proto::Model* m) {
  m->set_experts(k.Has("num_experts") ? k.Size("num_experts") : k.Size("num_local_experts"));
  m->set_top_k(k.Size("num_experts_per_tok"));
  m->set_expert_ffn(k.Size("moe_intermediate_size"));
  m->set_moe_every(k.SizeOr("decoder_sparse_step", 1));
  if (!k.IsEmpty("mlp_only_layers"))
    k.Refuse("mlp_only_layers", "mlp_only_layers: a list of dense layers is not generated yet; known: []");
  if (!shared) return;
  m->set_shared_ffn(k.Size("shared_expert_intermediate_size"));
  m->set_shared_gate(true);
}

absl::StatusOr<proto::Model> ParseHuggingFaceConfig(absl::string_view content, absl::string_view name) {
  JsonReader reader(content, name);
  ASSIGN_OR_RETURN(const JsonValue whole, reader.Next());
  if (!whole.is(JsonValue::Kind::kObject)) {
    return reader.Error(whole.begin, absl::StrCat("expected an object, found ", Name(whole.kind)));
  }
  if (!reader.AtEnd()) return reader.Error(whole.end, "expected the end of the file");
  const JsonValue* text = whole.Find("text_config");
  return ReadObject(reader, text != nullptr && text->is(JsonValue::Kind::kObject) ? *text : whole, name);
}

absl::StatusOr<proto::Model> ReadHuggingFaceConfig(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string content, ReadFile(path, kMostConfigBytes));
  return ParseHuggingFaceConfig(content, path);
}

}  // namespace chakra::generate
