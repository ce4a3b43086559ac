#include "trace/generate/hf_config.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/spelling.h"
#include "trace/generate/sizes.h"
#include "trace/io/file.h"
#include "trace/io/json_value.h"
#include "trace/io/settings.h"

namespace chakra::generate {
namespace {

constexpr size_t kMostBytes = size_t{16} << 20;

// Reads keys of one object; the first error stays.
class Keys {
 public:
  Keys(const JsonReader& reader, const JsonValue& object) : reader_(reader), object_(object) {}

  const absl::Status& status() const { return status_; }
  bool Has(absl::string_view key) const {
    const JsonValue* v = object_.Find(key);
    return v != nullptr && !v->is(JsonValue::Kind::kNull);
  }

  bool IsNull(absl::string_view key) const {
    const JsonValue* v = object_.Find(key);
    return v != nullptr && v->is(JsonValue::Kind::kNull);
  }

  int64_t Size(absl::string_view key) {
    if (Has(key)) return SizeOr(key, 0);
    const JsonValue* null = object_.Find(key);
    Fail(null != nullptr ? reader_.Error(null->begin, absl::StrCat(key, " is null; expected a whole number"))
                         : reader_.Error(object_.begin,
                                         absl::StrCat("\"", key, "\" is missing; expected a whole number")));
    return 1;
  }

  int64_t SizeOr(absl::string_view key, int64_t fallback) {
    if (!Has(key)) return fallback;
    const JsonValue& v = *object_.Find(key);
    int64_t out = 0;
    if (v.is(JsonValue::Kind::kNumber) && v.ToInt64(&out) && out >= 0 && out <= (int64_t{1} << 40))
      return out;
    Fail(reader_.Error(v.begin,
                       absl::StrCat(key, " is ", Shown(v), "; expected a whole number from 0 to 2^40")));
    return fallback;
  }

  bool FlagOr(absl::string_view key, bool fallback) {
    if (!Has(key)) return fallback;
    const JsonValue& v = *object_.Find(key);
    if (v.is(JsonValue::Kind::kBool)) return v.boolean;
    Fail(reader_.Error(v.begin, absl::StrCat(key, " is ", Shown(v), "; expected true or false")));
    return fallback;
  }

  std::string TextOr(absl::string_view key, absl::string_view fallback) {
    if (!Has(key)) return std::string(fallback);
    const JsonValue& v = *object_.Find(key);
    if (v.is(JsonValue::Kind::kString)) return v.text;
    Fail(reader_.Error(v.begin, absl::StrCat(key, " is ", Shown(v), "; expected text")));
    return std::string(fallback);
  }

  // The value of a key, where it is a list; null: it is absent or null. Anything else is an error.
  const JsonValue* List(absl::string_view key) {
    if (!Has(key)) return nullptr;
    const JsonValue* v = object_.Find(key);
    if (v->is(JsonValue::Kind::kArray)) return v;
    Fail(reader_.Error(v->begin, absl::StrCat(key, " is ", Shown(*v), "; expected a list")));
    return nullptr;
  }
  // An error about a part of a value.
  void RefuseAt(const JsonValue& v, absl::string_view what) {
    Fail(reader_.Error(v.begin, absl::StrCat(what, ", found ", Shown(v))));
  }

  // The key is absent, null, or an empty list.
  bool IsEmpty(absl::string_view key) const {
    return !Has(key) || (object_.Find(key)->is(JsonValue::Kind::kArray) && object_.Find(key)->items.empty());
  }

  // An error about the value of a key that is there.
  void Refuse(absl::string_view key, absl::string_view what) {
    const JsonValue* v = object_.Find(key);
    Fail(reader_.Error(v == nullptr ? object_.begin : v->begin, what));
  }

 private:
  std::string Shown(const JsonValue& v) const {
    const absl::string_view raw = reader_.Raw(v);
    return raw.size() <= 40 ? std::string(raw) : absl::StrCat(raw.substr(0, 37), "...");
  }
  void Fail(absl::Status s) {
    if (status_.ok()) status_ = std::move(s);
  }

  const JsonReader& reader_;
  const JsonValue& object_;
  absl::Status status_;
};

// Which layers a class gives a sliding window, where the file does not list them (layer_types).
struct WindowRule {
  int64_t window = 0;       // the class's default; 0: none
  bool on_request = false;  // use_sliding_window has to be true (Qwen)
  enum Layers {
    kAll,
    kFromMost,
    kOddBelowMost,
    kAllButEach
  } layers = kAll;   // kFromMost: from max_window_layers on
  int64_t each = 2;  // kAllButEach
};

bool HasWindow(const WindowRule& rule, int64_t layer, int64_t most, int64_t each) {
  switch (rule.layers) {
    case WindowRule::kFromMost:
      return layer >= most;
    case WindowRule::kOddBelowMost:
      return (layer + 1) % 2 != 0 && layer < most;
    case WindowRule::kAllButEach:
      return (layer + 1) % each != 0;
    case WindowRule::kAll:
      break;
  }
  return true;
}

// Layers by their kinds in the file.
std::vector<int> ListedWindows(Keys& k, const JsonValue& types, int64_t layers) {
  std::vector<int> out;
  if (static_cast<int64_t>(types.items.size()) != layers) {
    k.Refuse("layer_types", absl::StrCat("layer_types has ", types.items.size(),
                                         " entries; expected num_hidden_layers, ", layers));
  }
  for (size_t i = 0; i < types.items.size(); ++i) {
    const JsonValue& v = types.items[i];
    const bool window = v.is(JsonValue::Kind::kString) && v.text == "sliding_attention";
    if (!window && !(v.is(JsonValue::Kind::kString) && v.text == "full_attention"))
      k.RefuseAt(v, absl::StrCat("layer_types, entry ", i, ": expected full_attention or sliding_attention"));
    if (window) out.push_back(static_cast<int>(i));
  }
  return out;
}

void Windows(Keys& k, const WindowRule& rule, proto::Model* m) {
  const bool absent = !k.Has("sliding_window") && !k.IsNull("sliding_window");
  int64_t window = absent ? rule.window : k.SizeOr("sliding_window", 0);
  if (!k.FlagOr("use_sliding_window", !rule.on_request)) window = 0;
  const int64_t most = k.SizeOr("max_window_layers", 28);
  const int64_t each = k.SizeOr("sliding_window_pattern", rule.each);
  if (each < 1) k.Refuse("sliding_window_pattern", "sliding_window_pattern is 0; expected at least 1");
  const JsonValue* types = k.List("layer_types");
  std::vector<int> layers;
  if (types != nullptr) layers = ListedWindows(k, *types, m->layers());
  for (int64_t i = 0; types == nullptr && k.status().ok() && i < std::min<int64_t>(m->layers(), 1024); ++i) {
    if (HasWindow(rule, i, most, each)) layers.push_back(static_cast<int>(i));
  }
  if (window == 0 || layers.empty()) return;
  m->set_window(window);
  if (static_cast<int64_t>(layers.size()) < m->layers()) m->set_window_layers(WindowLayers(layers));
}

// Of classes that know none.
void NoWindows(Keys& k) {
  if (!k.Has("sliding_window") || !k.FlagOr("use_sliding_window", true)) return;
  if (k.SizeOr("sliding_window", 0) >= k.SizeOr("max_position_embeddings", 0)) return;
  k.Refuse("sliding_window",
           absl::StrCat("sliding_window is ", k.SizeOr("sliding_window", 0),
                        ", and models of this kind have no windows; expected null, or model_type "
                        "mistral, qwen2, qwen3, gpt_oss or gemma3_text"));
}

// Keys that llama and its relatives share.
void Llama(Keys& k, bool tied, proto::Model* m, absl::string_view act = "silu") {
  m->set_layers(k.Size("num_hidden_layers"));
  m->set_hidden(k.Size("hidden_size"));
  m->set_heads(k.Size("num_attention_heads"));
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

void ReadLlama(Keys& k, proto::Model* m) {
  Llama(k, false, m);
  NoWindows(k);
}

void ReadMistral(Keys& k, proto::Model* m) {
  Llama(k, false, m);
  Windows(k, {4096}, m);
}

void Qwen2(Keys& k, proto::Model* m) {
  Llama(k, false, m);
  m->set_qkv_bias(true);  // whatever the file says
}

void ReadQwen2(Keys& k, proto::Model* m) {
  Qwen2(k, m);
  Windows(k, {4096, true, WindowRule::kFromMost}, m);
}

void Qwen3(Keys& k, proto::Model* m) {
  Llama(k, false, m);
  if (!k.Has("head_dim")) m->set_head_dim(128);  // the class's default
  m->set_qk_norm(true);
}

void ReadQwen3(Keys& k, proto::Model* m) {
  Qwen3(k, m);
  Windows(k, {4096, true, WindowRule::kFromMost}, m);
}

// Caps of scores are a pass more over each tile, which no kernel of the tables has.
void NoCaps(Keys& k) {
  for (const char* key : {"attn_logit_softcapping", "final_logit_softcapping"}) {
    if (k.Has(key)) k.Refuse(key, absl::StrCat(key, ": caps are not generated yet; known: null"));
  }
}

void ReadGemma(Keys& k, proto::Model* m) {
  Llama(k, true, m, "gelu_pytorch_tanh");
  if (!k.Has("head_dim")) m->set_head_dim(256);
  NoWindows(k);
}

void ReadGemma3(Keys& k, proto::Model* m) {
  Llama(k, true, m, "gelu_pytorch_tanh");
  if (!k.Has("head_dim")) m->set_head_dim(256);
  m->set_qk_norm(true);
  m->set_post_norm(true);
  NoCaps(k);
  Windows(k, {4096, false, WindowRule::kAllButEach, 6}, m);
}

// Biases everywhere but in the head, a learned score beside those of the keys, and every other layer has a
// window.
void ReadGptOss(Keys& k, proto::Model* m) {
  Llama(k, false, m);
  if (!k.Has("head_dim")) m->set_head_dim(64);
  if (!k.FlagOr("attention_bias", true))
    k.Refuse("attention_bias", "attention_bias is false; expected true, as gpt-oss has biases");
  m->set_bias(true);
  m->set_sinks(true);
  m->set_experts(k.Has("num_experts") ? k.Size("num_experts") : k.SizeOr("num_local_experts", 128));
  m->set_top_k(k.SizeOr("num_experts_per_tok", 4));
  Windows(k, {128, false, WindowRule::kAllButEach, 2}, m);
}

void ReadMixtral(Keys& k, proto::Model* m) {
  Llama(k, false, m);
  Windows(k, {}, m);
  m->set_experts(k.Has("num_experts") ? k.Size("num_experts") : k.SizeOr("num_local_experts", 8));
  m->set_top_k(k.SizeOr("num_experts_per_tok", 2));
}

void QwenExperts(Keys& k, proto::Model* m) {
  m->set_experts(k.Has("num_experts") ? k.Size("num_experts") : k.Size("num_local_experts"));
  m->set_top_k(k.Size("num_experts_per_tok"));
  m->set_expert_ffn(k.Size("moe_intermediate_size"));
  m->set_moe_every(k.SizeOr("decoder_sparse_step", 1));
  if (!k.IsEmpty("mlp_only_layers"))
    k.Refuse("mlp_only_layers", "mlp_only_layers: a list of dense layers is not generated yet; known: []");
}

void ReadQwen2Moe(Keys& k, proto::Model* m) {
  Qwen2(k, m);
  Windows(k, {4096, true, WindowRule::kOddBelowMost}, m);
  QwenExperts(k, m);
  m->set_shared_ffn(k.Size("shared_expert_intermediate_size"));
  m->set_shared_gate(true);
}

void ReadQwen3Moe(Keys& k, proto::Model* m) {
  Qwen3(k, m);
  Windows(k, {4096, true}, m);
  QwenExperts(k, m);
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
  Llama(k, false, m);
  NoWindows(k);
  m->clear_head_dim();  // the rope part alone
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

// GLM-4.5: DeepSeek's experts behind ordinary attention.
void ReadGlm4Moe(Keys& k, proto::Model* m) {
  Llama(k, false, m);
  m->set_qk_norm(k.FlagOr("use_qk_norm", false));
  m->set_mtp(k.SizeOr("num_nextn_predict_layers", 0));
  RoutedExperts(k, m);
  NoWindows(k);
}

void ReadPhi3(Keys& k, proto::Model* m) {
  Llama(k, false, m);
  Windows(k, {}, m);
}

// LayerNorm, biases, no gate.
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

// Sizes that encoders and NeoX call alike.
void LayerSizes(Keys& k, proto::Model* m) {
  m->set_layers(k.Size("num_hidden_layers"));
  m->set_hidden(k.Size("hidden_size"));
  m->set_heads(k.Size("num_attention_heads"));
  m->set_ffn(k.Size("intermediate_size"));
}

void ReadNeoX(Keys& k, proto::Model* m) {
  LayerSizes(k, m);
  m->set_vocab(k.Size("vocab_size"));
  m->set_tied(k.FlagOr("tie_word_embeddings", false));
  Older(m);
}

void ReadStarcoder2(Keys& k, proto::Model* m) {
  LayerSizes(k, m);
  m->set_kv_heads(k.SizeOr("num_key_value_heads", 2));
  m->set_vocab(k.Size("vocab_size"));
  m->set_tied(k.FlagOr("tie_word_embeddings", true));
  Older(m);
  m->set_bias(k.FlagOr("use_bias", true));
  Windows(k, {4096}, m);
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
  const char* architecture;  // what the class's name begins with
  void (*read)(Keys&, proto::Model*);
};

// To add a kind, add a line, and a reader if none fits.
constexpr Kind kKinds[] = {
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
    {"gpt_oss", "GptOss", ReadGptOss},
    {"gemma", "GemmaFor", ReadGemma},
    {"gemma3_text", "Gemma3For", ReadGemma3},
    {"glm4_moe", "Glm4Moe", ReadGlm4Moe},
    {"phi3", "Phi3", ReadPhi3},
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
    return reader.Error(at == nullptr ? object.begin : at->begin,
                        type.empty() && architecture.empty()
                            ? std::string("\"model_type\" is missing; expected the kind of the model")
                            : absl::StrCat("model_type is \"", type.empty() ? architecture : type,
                                           "\", a kind that is not known",
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

absl::StatusOr<proto::Model> ParseHuggingFaceConfig(absl::string_view content, absl::string_view name) {
  JsonReader reader(content, name);
  const absl::StatusOr<JsonValue> whole = reader.Next();
  if (!whole.ok()) return whole.status();
  if (!whole->is(JsonValue::Kind::kObject)) {
    return reader.Error(whole->begin, absl::StrCat("expected an object, found ", Name(whole->kind)));
  }
  if (!reader.AtEnd()) return reader.Error(whole->end, "expected the end of the file");
  const JsonValue* text = whole->Find("text_config");
  return ReadObject(reader, text != nullptr && text->is(JsonValue::Kind::kObject) ? *text : *whole, name);
}

absl::StatusOr<proto::Model> ReadHuggingFaceConfig(const std::string& path) {
  const absl::StatusOr<std::string> content = ReadFile(path, kMostBytes);
  if (!content.ok()) return content.status();
  return ParseHuggingFaceConfig(*content, path);
}

}  // namespace chakra::generate
