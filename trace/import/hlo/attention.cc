#include "trace/import/hlo/attention.h"

#include <simdjson.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace chakra::hlo {
namespace {

// Reads N of `key = N : i64` in an MLIR dictionary; returns `missing` if there is none.
int64_t DictionaryNumber(absl::string_view config, absl::string_view key, int64_t missing) {
  const size_t at = config.find(key);
  if (at == config.npos) return missing;
  config.remove_prefix(at + key.size());
  while (!config.empty() && (config[0] == ' ' || config[0] == '=')) config.remove_prefix(1);
  int64_t n = 0;
  return absl::SimpleAtoi(config.substr(0, config.find_first_not_of("-0123456789")), &n) ? n : missing;
}

double NumberOf(simdjson::dom::element value) {
  std::string_view text;
  int64_t n = 0;
  if (value.get(n) == simdjson::SUCCESS) return static_cast<double>(n);
  const bool number = value.get(text) == simdjson::SUCCESS &&
                      absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &n);
  return number ? static_cast<double>(n) : 0;
}

struct Mask {
  bool causal = false;
  double window = 0;  // number of keys that a query sees; 0: all
};

// Reads cudnn_fmha_backend_config: the mask, and the scores' shape [batch, heads, queries, keys].
bool ReadCudnn(const std::string& config, Attention* a, Mask* mask) {
  if (!absl::StrContains(config, "cudnn_fmha_backend_config")) return false;
  simdjson::dom::parser parser;
  simdjson::dom::element root, fmha, value;
  const simdjson::padded_string text(config.data(), config.size());
  if (parser.parse(text).get(root) != simdjson::SUCCESS ||
      root["cudnn_fmha_backend_config"].get(fmha) != simdjson::SUCCESS)
    return false;
  std::string_view kind;
  bool causal = false;
  if (fmha["mask_type"].get(kind) == simdjson::SUCCESS)
    mask->causal = absl::StrContains(absl::string_view(kind.data(), kind.size()), "CAUSAL");
  if (fmha["is_causal_mask"].get(causal) == simdjson::SUCCESS) mask->causal |= causal;
  if (fmha["sliding_window_length"].get(value) == simdjson::SUCCESS) mask->window = NumberOf(value);
  simdjson::dom::array dims;
  if (fmha.at_pointer("/intermediate_tensor_shape/dimensions").get(dims) != simdjson::SUCCESS ||
      dims.size() != 4)
    return true;
  double* const to[] = {&a->batch, &a->heads, &a->queries, &a->keys};
  size_t d = 0;
  for (const simdjson::dom::element dim : dims) *to[d++] = NumberOf(dim);
  return true;
}

// Reads the mask of Transformer Engine, by number (NVTE_Mask_Type: 2 to 5 are causal) or by name.
Mask MaskOf(const Instruction& call) {
  Mask mask;
  const int64_t number = DictionaryNumber(call.backend_config, "mask_type", -1);
  mask.causal = (number >= 2 && number <= 5) ||
                (number < 0 && absl::StrContains(absl::AsciiStrToLower(call.backend_config), "causal"));
  const int64_t left = DictionaryNumber(call.backend_config, "window_size_left", -1);
  if (left >= 0) mask.window = static_cast<double>(left) + 1;
  return mask;
}

}  // namespace

bool ReadAttention(const Instruction& call, const std::vector<const Shape*>& operands, Attention* out) {
  const std::string target = absl::AsciiStrToLower(call.target);
  const bool attention = absl::StrContains(target, "fmha") || absl::StrContains(target, "attn") ||
                         absl::StrContains(target, "attention");
  if (!attention) return false;
  const Shape *q = nullptr, *kv = nullptr;
  for (const Shape* s : operands) {
    if (s->tuple() || s->dims.size() < 4 || s->dims.size() > 5 || ElementsOf(*s) < 64) continue;
    if (q == nullptr) {
      q = s;
      if (s->dims.size() == 5) kv = s;
    } else if (kv == nullptr) {
      kv = s;
    }
  }
  if (q == nullptr || kv == nullptr) return false;
  const auto dim = [](const Shape& s, size_t from_end) {
    return static_cast<double>(s.dims[s.dims.size() - from_end]);
  };
  Attention& a = *out;
  a.batch = static_cast<double>(q->dims[0]);
  a.queries = static_cast<double>(q->dims[1]);
  a.heads = dim(*q, 2);
  a.width = dim(*q, 1);
  a.keys = static_cast<double>(kv->dims[1]);
  a.kv_heads = dim(*kv, 2);
  a.type = q->type;
  a.backward = absl::StrContains(target, "backward") || absl::StrContains(target, "bwd");
  Mask mask;
  if (ReadCudnn(call.backend_config, &a, &mask)) {
    const double others = a.batch * a.keys * a.width;
    if (others > 0 && q != kv) a.kv_heads = static_cast<double>(ElementsOf(*kv)) / others;
  } else {
    mask = MaskOf(call);
  }
  // Two GEMMs forward, five backward (FlashAttention-2, section 3.2). A causal mask leaves half of the pairs;
  // a window leaves its length of each row.
  a.operations = (a.backward ? 10 : 4) * a.batch * a.heads * a.queries * a.keys * a.width;
  if (mask.window > 0 && mask.window < a.keys) {
    a.operations *= mask.window / a.keys;
  } else if (mask.causal) {
    a.operations /= 2;
  }
  return true;
}

}  // namespace chakra::hlo
