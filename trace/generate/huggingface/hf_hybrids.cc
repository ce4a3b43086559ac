// Kinds of config.json whose layers have mixers of several kinds.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/generate/huggingface/hf_kinds.h"

namespace chakra::generate {
namespace {

using Names = std::vector<std::pair<absl::string_view, char>>;

// The letters of a list of the kinds of layers, by `names`.
std::string LettersOf(ConfigKeys& k, absl::string_view key, const JsonValue& list, const Names& names) {
  std::string letters;
  for (const JsonValue& v : list.items) {
    const auto found =
        std::find_if(names.begin(), names.end(), [&](const auto& n) { return v.text == n.first; });
    if (!v.is(JsonValue::Kind::kString) || found == names.end()) {
      std::string known;
      for (const auto& n : names) absl::StrAppend(&known, known.empty() ? "" : ", ", n.first);
      k.RefuseAt(v, absl::StrCat(key, ", entry ", letters.size(), ": expected one of ", known));
      return letters;
    }
    letters += found->second;
  }
  return letters;
}

// Sets the mixers by the list `key`, which must have one entry for each layer.
bool SetMixers(ConfigKeys& k, absl::string_view key, const Names& names, proto::Model* m) {
  const JsonValue* list = k.IsEmpty(key) ? nullptr : k.List(key);
  if (list == nullptr) return false;
  if (static_cast<int64_t>(list->items.size()) != m->layers())
    k.Refuse(key, absl::StrCat(key, " has ", list->items.size(), " entries; expected num_hidden_layers, ",
                               m->layers()));
  m->set_mixers(LettersOf(k, key, *list, names));
  return true;
}

// Keys of Mamba-2. `heads`, `dim`, ...: their names, which differ between classes.
void ReadMamba(ConfigKeys& k, absl::string_view heads, absl::string_view dim, absl::string_view state,
               absl::string_view groups, absl::string_view conv, absl::string_view chunk, proto::Model* m) {
  m->set_mamba_heads(k.Size(heads));
  m->set_mamba_head_dim(k.Size(dim));
  m->set_mamba_state(k.SizeOr(state, 128));
  m->set_mamba_groups(k.SizeOr(groups, 8));
  m->set_conv_kernel(k.SizeOr(conv, 4));
  m->set_mamba_chunk(k.SizeOr(chunk, 128));
}

// Gated DeltaNet in all layers but each N-th, which has attention with a gate. The defaults are the class's.
void ReadGatedDelta(ConfigKeys& k, proto::Model* m) {
  if (!k.Has("head_dim")) m->set_head_dim(256);
  m->set_qk_norm(true);
  m->set_attention_gate(k.FlagOr("attn_output_gate", true));
  m->set_linear_key_heads(k.SizeOr("linear_num_key_heads", 16));
  m->set_linear_value_heads(k.SizeOr("linear_num_value_heads", 32));
  m->set_linear_key_dim(k.SizeOr("linear_key_head_dim", 128));
  m->set_linear_value_dim(k.SizeOr("linear_value_head_dim", 128));
  m->set_conv_kernel(k.SizeOr("linear_conv_kernel_dim", 4));
  m->set_mtp(k.SizeOr("mtp_num_hidden_layers", 0));
  if (SetMixers(k, "layer_types", {{"linear_attention", 'G'}, {"full_attention", '*'}}, m)) return;
  const int64_t each = std::max<int64_t>(1, k.SizeOr("full_attention_interval", 4));
  std::string mixers;
  for (int64_t i = 0; i < std::min<int64_t>(m->layers(), 1024); ++i)
    mixers += (i + 1) % each == 0 ? '*' : 'G';
  m->set_mixers(mixers);
}

}  // namespace

void ReadQwen3Next(ConfigKeys& k, proto::Model* m) {
  ReadLlamaKeys(k, false, m);
  ReadGatedDelta(k, m);
  ReadQwenExperts(k, true, m);
}

void ReadQwen35(ConfigKeys& k, proto::Model* m) {
  if (!k.Has("num_experts")) {
    ReadLlamaKeys(k, false, m);
    return ReadGatedDelta(k, m);
  }
  m->set_layers(k.Size("num_hidden_layers"));
  m->set_hidden(k.Size("hidden_size"));
  m->set_heads(k.Size("num_attention_heads"));
  m->set_kv_heads(k.SizeOr("num_key_value_heads", m->heads()));
  if (k.Has("head_dim")) m->set_head_dim(k.Size("head_dim"));
  m->set_vocab(k.Size("vocab_size"));
  m->set_tied(k.FlagOr("tie_word_embeddings", false));
  ReadGatedDelta(k, m);
  ReadQwenExperts(k, true, m);
}

// One sublayer in each layer, by Megatron-LM's letters or by a list.
void ReadNemotronH(ConfigKeys& k, proto::Model* m) {
  m->set_hidden(k.Size("hidden_size"));
  m->set_heads(k.Size("num_attention_heads"));
  m->set_kv_heads(k.SizeOr("num_key_value_heads", m->heads()));
  m->set_head_dim(k.Has("attention_head_dim") ? k.Size("attention_head_dim") : k.SizeOr("head_dim", 128));
  m->set_vocab(k.Size("vocab_size"));
  m->set_tied(k.FlagOr("tie_word_embeddings", false));
  m->set_rope(false);
  m->set_gated(false);
  const std::string act = k.TextOr("mlp_hidden_act", "relu2");
  if (act != "relu2")
    k.Refuse("mlp_hidden_act", absl::StrCat("mlp_hidden_act is \"", act, "\"; expected relu2"));
  const JsonValue* list = k.IsEmpty("layers_block_type") ? nullptr : k.List("layers_block_type");
  m->set_pattern(list == nullptr
                     ? k.TextOr("hybrid_override_pattern", "")
                     : LettersOf(k, "layers_block_type", *list,
                                 {{"mamba", 'M'}, {"attention", '*'}, {"moe", 'E'}, {"mlp", '-'}}));
  if (m->pattern().empty()) {
    k.Size("hybrid_override_pattern");  // the error of a missing key
    return;
  }
  m->set_layers(static_cast<int64_t>(m->pattern().size()));
  if (k.Has("num_hidden_layers") && k.Size("num_hidden_layers") != m->layers())
    k.Refuse("num_hidden_layers", absl::StrCat("num_hidden_layers is ", k.Size("num_hidden_layers"),
                                               "; expected the letters of the pattern, ", m->layers()));
  if (absl::StrContains(m->pattern(), 'M'))
    ReadMamba(k, "mamba_num_heads", "mamba_head_dim", "ssm_state_size", "n_groups", "conv_kernel",
              "chunk_size", m);
  if (absl::StrContains(m->pattern(), '-')) m->set_ffn(k.Size("intermediate_size"));
  if (!absl::StrContains(m->pattern(), 'E')) return;
  m->set_experts(k.Size("n_routed_experts"));
  m->set_top_k(k.Size("num_experts_per_tok"));
  m->set_expert_groups(k.SizeOr("n_group", 1));
  m->set_top_groups(k.SizeOr("topk_group", m->expert_groups()));
  m->set_expert_ffn(k.Size("moe_intermediate_size"));
  m->set_shared_ffn(k.SizeOr("n_shared_experts", 1) * k.SizeOr("moe_shared_expert_intermediate_size", 0));
  m->set_expert_latent(k.IsNull("moe_latent_size") ? 0 : k.SizeOr("moe_latent_size", 0));
  m->set_router_bias(true);
}

// Granite 4: Mamba-2 or attention, and in each layer experts with a shared MLP, or only that MLP.
void ReadGraniteHybrid(ConfigKeys& k, proto::Model* m) {
  ReadLlamaKeys(k, true, m);
  SetMixers(k, "layer_types", {{"mamba", 'M'}, {"attention", '*'}}, m);
  if (absl::StrContains(m->mixers(), 'M'))
    ReadMamba(k, "mamba_n_heads", "mamba_d_head", "mamba_d_state", "mamba_n_groups", "mamba_d_conv",
              "mamba_chunk_size", m);
  m->set_rope(k.TextOr("position_embedding_type", "rope") == "rope");
  const int64_t shared = k.SizeOr("shared_intermediate_size", 1024),
                experts = k.SizeOr("num_local_experts", 8);
  if (experts == 0) {
    m->set_ffn(shared);
    return;
  }
  m->set_experts(experts);
  m->set_top_k(k.SizeOr("num_experts_per_tok", 2));
  m->set_expert_ffn(m->ffn());
  m->clear_ffn();
  m->set_shared_ffn(shared);
}

void ReadLfm2(ConfigKeys& k, proto::Model* m) {
  m->set_layers(k.Size("num_hidden_layers"));
  m->set_hidden(k.Size("hidden_size"));
  m->set_heads(k.Size("num_attention_heads"));
  m->set_kv_heads(k.SizeOr("num_key_value_heads", m->heads()));
  m->set_vocab(k.Size("vocab_size"));
  m->set_tied(k.FlagOr("tie_word_embeddings", k.FlagOr("tie_embedding", true)));
  m->set_qk_norm(true);
  m->set_conv_kernel(k.SizeOr("conv_L_cache", 3));
  int64_t ffn = k.Has("block_ff_dim") ? k.Size("block_ff_dim") : k.Size("intermediate_size");
  if (k.FlagOr("block_auto_adjust_ff_dim", true)) {
    const int64_t unit = std::max<int64_t>(1, k.SizeOr("block_multiple_of", 256));
    ffn = static_cast<int64_t>(k.RealOr("block_ffn_dim_multiplier", 1.0) * static_cast<double>(2 * ffn / 3));
    ffn = (ffn + unit - 1) / unit * unit;
  }
  m->set_ffn(ffn);
  SetMixers(k, "layer_types", {{"conv", 'C'}, {"full_attention", '*'}}, m);
}

// Kimi delta attention in the layers that the file lists, counted from 1, and latent attention without rotary
// positions in the others.
void ReadKimiLinear(ConfigKeys& k, proto::Model* m) {
  m->set_layers(k.Size("num_hidden_layers"));
  m->set_hidden(k.Size("hidden_size"));
  m->set_heads(k.Size("num_attention_heads"));
  m->set_ffn(k.Size("intermediate_size"));
  m->set_vocab(k.Size("vocab_size"));
  m->set_tied(k.FlagOr("tie_word_embeddings", false));
  m->set_kv_rank(k.Size("kv_lora_rank"));
  if (k.Has("q_lora_rank") && !k.IsNull("q_lora_rank")) m->set_q_rank(k.Size("q_lora_rank"));
  m->set_nope_dim(k.Size("qk_nope_head_dim"));
  m->set_rope_dim(k.Size("qk_rope_head_dim"));
  m->set_v_dim(k.Size("v_head_dim"));
  m->set_rope(!k.FlagOr("mla_use_nope", true));
  m->set_experts(k.Size("num_experts"));
  m->set_top_k(k.Has("num_experts_per_token") ? k.Size("num_experts_per_token")
                                              : k.Size("num_experts_per_tok"));
  m->set_expert_groups(k.SizeOr("num_expert_group", 1));
  m->set_top_groups(k.SizeOr("topk_group", m->expert_groups()));
  m->set_expert_ffn(k.Size("moe_intermediate_size"));
  m->set_shared_ffn(k.SizeOr("num_shared_experts", 0) * m->expert_ffn());
  m->set_dense_layers(k.SizeOr("first_k_dense_replace", 0));
  m->set_moe_every(k.SizeOr("moe_layer_freq", 1));
  m->set_router_bias(true);
  ConfigKeys linear = k.Nested("linear_attn_config");
  const JsonValue* layers = linear.IsEmpty("kda_layers") ? nullptr : linear.List("kda_layers");
  std::string mixers(static_cast<size_t>(std::clamp<int64_t>(m->layers(), 0, 1024)), '*');
  for (size_t i = 0; layers != nullptr && i < layers->items.size(); ++i) {
    const JsonValue& v = layers->items[i];
    int64_t layer = 0;
    if (v.is(JsonValue::Kind::kNumber) && v.ToInt64(&layer) && layer >= 1 && layer <= m->layers()) {
      mixers[static_cast<size_t>(layer - 1)] = 'K';
    } else {
      linear.RefuseAt(v, absl::StrCat("kda_layers, entry ", i, ": expected a layer from 1 to ", m->layers()));
    }
  }
  if (layers != nullptr) {
    m->set_mixers(mixers);
    m->set_linear_key_heads(linear.Size("num_heads"));
    m->set_linear_key_dim(linear.Size("head_dim"));
    m->set_conv_kernel(linear.SizeOr("short_conv_kernel_size", 4));
  }
  k.Take(linear);
}

// MiniMax-01: lightning attention in the layers with 0 in the list.
void ReadMiniMax(ConfigKeys& k, proto::Model* m) {
  ReadLlamaKeys(k, false, m);
  m->set_experts(k.Size("num_local_experts"));
  m->set_top_k(k.Size("num_experts_per_tok"));
  m->set_expert_ffn(m->ffn());
  m->clear_ffn();
  if (SetMixers(k, "layer_types", {{"linear_attention", 'L'}, {"full_attention", '*'}}, m)) return;
  const JsonValue* list = k.IsEmpty("attn_type_list") ? nullptr : k.List("attn_type_list");
  std::string mixers;
  for (size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    int64_t kind = -1;
    if (!list->items[i].is(JsonValue::Kind::kNumber) || !list->items[i].ToInt64(&kind) || kind < 0 ||
        kind > 1)
      k.RefuseAt(list->items[i], absl::StrCat("attn_type_list, entry ", i, ": expected 0 or 1"));
    mixers += kind == 0 ? 'L' : '*';
  }
  if (list == nullptr) return;
  if (static_cast<int64_t>(mixers.size()) != m->layers())
    k.Refuse("attn_type_list", absl::StrCat("attn_type_list has ", mixers.size(),
                                            " entries; expected num_hidden_layers, ", m->layers()));
  m->set_mixers(mixers);
}

}  // namespace chakra::generate
