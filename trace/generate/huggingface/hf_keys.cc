#include "trace/generate/huggingface/hf_keys.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {
namespace {

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

}  // namespace

bool ConfigKeys::Has(absl::string_view key) const {
  const JsonValue* v = object_.Find(key);
  return v != nullptr && !v->is(JsonValue::Kind::kNull);
}

bool ConfigKeys::IsNull(absl::string_view key) const {
  const JsonValue* v = object_.Find(key);
  return v != nullptr && v->is(JsonValue::Kind::kNull);
}

int64_t ConfigKeys::Size(absl::string_view key) {
  if (Has(key)) return SizeOr(key, 0);
  const JsonValue* null = object_.Find(key);
  Fail(null != nullptr
           ? reader_.Error(null->begin, absl::StrCat(key, " is null; expected a whole number"))
           : reader_.Error(object_.begin, absl::StrCat("\"", key, "\" is missing; expected a whole number")));
  return 1;
}

int64_t ConfigKeys::SizeOr(absl::string_view key, int64_t fallback) {
  if (!Has(key)) return fallback;
  const JsonValue& v = *object_.Find(key);
  int64_t out = 0;
  if (v.is(JsonValue::Kind::kNumber) && v.ToInt64(&out) && out >= 0 && out <= (int64_t{1} << 40)) return out;
  Fail(reader_.Error(v.begin,
                     absl::StrCat(key, " is ", Shown(v), "; expected a whole number from 0 to 2^40")));
  return fallback;
}

double ConfigKeys::RealOr(absl::string_view key, double fallback) {
  if (!Has(key)) return fallback;
  const JsonValue& v = *object_.Find(key);
  double out = 0;
  if (v.is(JsonValue::Kind::kNumber) && absl::SimpleAtod(reader_.Raw(v), &out) && out >= 0 && out <= 1e6)
    return out;
  Fail(reader_.Error(v.begin, absl::StrCat(key, " is ", Shown(v), "; expected a number from 0 to 1000000")));
  return fallback;
}

bool ConfigKeys::FlagOr(absl::string_view key, bool fallback) {
  if (!Has(key)) return fallback;
  const JsonValue& v = *object_.Find(key);
  if (v.is(JsonValue::Kind::kBool)) return v.boolean;
  Fail(reader_.Error(v.begin, absl::StrCat(key, " is ", Shown(v), "; expected true or false")));
  return fallback;
}

std::string ConfigKeys::TextOr(absl::string_view key, absl::string_view fallback) {
  if (!Has(key)) return std::string(fallback);
  const JsonValue& v = *object_.Find(key);
  if (v.is(JsonValue::Kind::kString)) return v.text;
  Fail(reader_.Error(v.begin, absl::StrCat(key, " is ", Shown(v), "; expected text")));
  return std::string(fallback);
}

const JsonValue* ConfigKeys::List(absl::string_view key) {
  if (!Has(key)) return nullptr;
  const JsonValue* v = object_.Find(key);
  if (v->is(JsonValue::Kind::kArray)) return v;
  Fail(reader_.Error(v->begin, absl::StrCat(key, " is ", Shown(*v), "; expected a list")));
  return nullptr;
}

ConfigKeys ConfigKeys::Nested(absl::string_view key) {
  static const JsonValue& empty = *new JsonValue;
  const JsonValue* v = object_.Find(key);
  const bool missing = v == nullptr || v->is(JsonValue::Kind::kNull);
  if (!missing && !v->is(JsonValue::Kind::kObject))
    Fail(reader_.Error(v->begin, absl::StrCat(key, ": expected an object, found ", Name(v->kind))));
  return ConfigKeys(reader_, missing || !v->is(JsonValue::Kind::kObject) ? empty : *v);
}

void ConfigKeys::Take(const ConfigKeys& nested) { Fail(nested.status()); }

void ConfigKeys::RefuseAt(const JsonValue& v, absl::string_view what) {
  Fail(reader_.Error(v.begin, absl::StrCat(what, ", found ", Shown(v))));
}

bool ConfigKeys::IsEmpty(absl::string_view key) const {
  return !Has(key) || (object_.Find(key)->is(JsonValue::Kind::kArray) && object_.Find(key)->items.empty());
}

void ConfigKeys::Refuse(absl::string_view key, absl::string_view what) {
  const JsonValue* v = object_.Find(key);
  Fail(reader_.Error(v == nullptr ? object_.begin : v->begin, what));
}

std::string ConfigKeys::Shown(const JsonValue& v) const {
  const absl::string_view raw = reader_.Raw(v);
  return raw.size() <= 40 ? std::string(raw) : absl::StrCat(raw.substr(0, 37), "...");
}

void ConfigKeys::Fail(absl::Status s) {
  if (status_.ok()) status_ = std::move(s);
}

std::vector<int> ListedLayers(ConfigKeys& k, const JsonValue& types, int64_t layers, absl::string_view kind) {
  std::vector<int> out;
  if (static_cast<int64_t>(types.items.size()) != layers) {
    k.Refuse("layer_types", absl::StrCat("layer_types has ", types.items.size(),
                                         " entries; expected num_hidden_layers, ", layers));
  }
  for (size_t i = 0; i < types.items.size(); ++i) {
    const JsonValue& v = types.items[i];
    const bool window = v.is(JsonValue::Kind::kString) && v.text == kind;
    if (!window && !(v.is(JsonValue::Kind::kString) && v.text == "full_attention"))
      k.RefuseAt(v, absl::StrCat("layer_types, entry ", i, ": expected full_attention or ", kind));
    if (window) out.push_back(static_cast<int>(i));
  }
  return out;
}

std::vector<int> TurnedLayers(ConfigKeys& k, int64_t layers) {
  std::vector<int> out;
  const int64_t each = k.SizeOr("no_rope_layer_interval", 4);
  const JsonValue* list = k.IsEmpty("no_rope_layers") ? nullptr : k.List("no_rope_layers");
  if (each < 1) k.Refuse("no_rope_layer_interval", "no_rope_layer_interval is 0; expected at least 1");
  if (list != nullptr && static_cast<int64_t>(list->items.size()) != layers)
    k.Refuse("no_rope_layers", absl::StrCat("no_rope_layers has ", list->items.size(),
                                            " entries; expected num_hidden_layers, ", layers));
  for (int64_t i = 0; k.status().ok() && i < std::min<int64_t>(layers, 1024); ++i) {
    int64_t has = (i + 1) % each != 0 ? 1 : 0;
    if (list != nullptr) {
      const JsonValue& v = list->items[static_cast<size_t>(i)];
      if (!v.is(JsonValue::Kind::kNumber) || !v.ToInt64(&has) || has < 0 || has > 1)
        k.RefuseAt(v, absl::StrCat("no_rope_layers, entry ", i, ": expected 1 for rotary positions, or 0"));
    }
    if (has == 1) out.push_back(static_cast<int>(i));
  }
  return out;
}

void ReadWindows(ConfigKeys& k, const WindowRule& rule, proto::Model* m) {
  const bool absent = !k.Has("sliding_window") && !k.IsNull("sliding_window");
  int64_t window = absent ? rule.window : k.SizeOr("sliding_window", 0);
  if (!k.FlagOr("use_sliding_window", !rule.on_request)) window = 0;
  const int64_t most = k.SizeOr("max_window_layers", 28);
  const int64_t each = k.SizeOr("sliding_window_pattern", rule.each);
  if (each < 1) k.Refuse("sliding_window_pattern", "sliding_window_pattern is 0; expected at least 1");
  const JsonValue* types = k.List("layer_types");
  std::vector<int> layers;
  if (types != nullptr) layers = ListedLayers(k, *types, m->layers(), "sliding_attention");
  for (int64_t i = 0; types == nullptr && k.status().ok() && i < std::min<int64_t>(m->layers(), 1024); ++i) {
    if (HasWindow(rule, i, most, each)) layers.push_back(static_cast<int>(i));
  }
  if (window == 0 || layers.empty()) return;
  m->set_window(window);
  if (static_cast<int64_t>(layers.size()) < m->layers()) m->set_window_layers(WindowLayers(layers));
}

void ReadNoWindows(ConfigKeys& k) {
  if (!k.Has("sliding_window") || !k.FlagOr("use_sliding_window", true)) return;
  if (k.SizeOr("sliding_window", 0) >= k.SizeOr("max_position_embeddings", 0)) return;
  k.Refuse("sliding_window",
           absl::StrCat("sliding_window is ", k.SizeOr("sliding_window", 0),
                        ", but models of this kind have no windows; expected null, or model_type "
                        "mistral, qwen2, qwen3, gpt_oss or gemma3_text"));
}

}  // namespace chakra::generate
