#include "trace/generate/hf_config.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/spelling.h"
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

// Keys that llama and its relatives share.
void Llama(Keys& k, bool tied, proto::Model* m) {
  m->set_layers(k.Size("num_hidden_layers"));
  m->set_hidden(k.Size("hidden_size"));
  m->set_heads(k.Size("num_attention_heads"));
  m->set_kv_heads(k.SizeOr("num_key_value_heads", m->heads()));
  if (k.Has("head_dim")) m->set_head_dim(k.Size("head_dim"));
  m->set_ffn(k.Size("intermediate_size"));
  m->set_vocab(k.Size("vocab_size"));
  m->set_tied(k.FlagOr("tie_word_embeddings", tied));
  const std::string act = k.TextOr("hidden_act", "silu");
  if (act != "silu" && act != "swish")
    k.Refuse("hidden_act", absl::StrCat("hidden_act is \"", act, "\"; expected silu"));
  if (k.FlagOr("attention_bias", false)) m->set_qkv_bias(true);
  if (k.Has("sliding_window") && k.FlagOr("use_sliding_window", true) &&
      k.SizeOr("sliding_window", 0) < k.SizeOr("max_position_embeddings", 0)) {
    k.Refuse("sliding_window", absl::StrCat("sliding_window is ", k.SizeOr("sliding_window", 0),
                                            ": windows are not generated yet; known: null"));
  }
}

void ReadLlama(Keys& k, proto::Model* m) { Llama(k, false, m); }

void ReadQwen2(Keys& k, proto::Model* m) {
  Llama(k, false, m);
  m->set_qkv_bias(true);  // whatever the file says
}

void ReadQwen3(Keys& k, proto::Model* m) {
  Llama(k, false, m);
  if (!k.Has("head_dim")) m->set_head_dim(128);  // the class's default
  m->set_qk_norm(true);
}

void ReadMixtral(Keys& k, proto::Model* m) {
  Llama(k, false, m);
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
  Llama(k, false, m);
  m->set_qkv_bias(true);
  QwenExperts(k, m);
  m->set_shared_ffn(k.Size("shared_expert_intermediate_size"));
  m->set_shared_gate(true);
}

void ReadQwen3Moe(Keys& k, proto::Model* m) {
  ReadQwen3(k, m);
  QwenExperts(k, m);
}

void ReadDeepSeek(Keys& k, proto::Model* m) {
  Llama(k, false, m);
  m->clear_head_dim();  // the rope part alone
  m->set_kv_heads(m->heads());
  m->set_kv_rank(k.Size("kv_lora_rank"));
  if (k.Has("q_lora_rank")) m->set_q_rank(k.Size("q_lora_rank"));
  m->set_nope_dim(k.Size("qk_nope_head_dim"));
  m->set_rope_dim(k.Size("qk_rope_head_dim"));
  m->set_v_dim(k.Size("v_head_dim"));
  m->set_mtp(k.SizeOr("num_nextn_predict_layers", 0));
  m->set_uneven(true);  // 61 layers of DeepSeek-V3 and Kimi-K2 were trained on 16 stages
  if (!k.Has("n_routed_experts")) return;
  m->set_experts(k.Size("n_routed_experts"));
  m->set_top_k(k.Size("num_experts_per_tok"));
  m->set_expert_groups(k.SizeOr("n_group", 1));
  m->set_top_groups(k.SizeOr("topk_group", m->expert_groups()));
  m->set_expert_ffn(k.Size("moe_intermediate_size"));
  m->set_shared_ffn(k.SizeOr("n_shared_experts", 0) * m->expert_ffn());
  m->set_dense_layers(k.SizeOr("first_k_dense_replace", 0));
  m->set_moe_every(k.SizeOr("moe_layer_freq", 1));
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
    {"mistral", "Mistral", ReadLlama},
    {"mixtral", "Mixtral", ReadMixtral},
    {"qwen2", "Qwen2For", ReadQwen2},
    {"qwen2_moe", "Qwen2Moe", ReadQwen2Moe},
    {"qwen3", "Qwen3For", ReadQwen3},
    {"qwen3_moe", "Qwen3Moe", ReadQwen3Moe},
    {"deepseek_v2", "DeepseekV2", ReadDeepSeek},
    {"deepseek_v3", "DeepseekV3", ReadDeepSeek},
    {"kimi_k2", "KimiK2", ReadDeepSeek},
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
