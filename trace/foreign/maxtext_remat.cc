#include "trace/foreign/maxtext_remat.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace chakra::foreign {
namespace {

using proto::Training;

// The tensors that a policy keeps, besides the input of the layer (MaxText/layers/decoders.py,
// get_remat_policy).
struct Policy {
  const char* name;
  const char* kept;  // joined by +
  bool offloads = false;
};
constexpr Policy kPolicies[] = {
    {"full", ""},
    {"minimal", "qkv+out+up"},
    {"minimal_flash", "qkv+context+out+up"},
    {"minimal_with_context", "qkv+context+out+up"},
    {"minimal_with_context_and_quantization", "qkv+context+out+up"},
    {"minimal_offloaded", "qkv+out+up", true},
    {"save_dot_except_mlp", "qkv+out"},
    {"save_dot_except_mlpwi", "qkv+out"},
    {"save_dot_with_context_except_mlp", "qkv+context+out"},
    {"save_qkv_proj", "qkv"},
    {"qkv_proj_offloaded", "qkv", true},
    {"save_out_proj", "out"},
};

// The tensors of the policy custom, and the part of a layer that makes each.
struct Tensor {
  const char* key;
  const char* part;
};
constexpr Tensor kTensors[] = {
    {"query_proj", "qkv"}, {"key_proj", "qkv"},    {"value_proj", "qkv"},
    {"qkv_proj", "qkv"},   {"context", "context"}, {"out_proj", "out"},
    {"mlpwi", "up"},       {"mlpwi_0", "up"},      {"mlpwi_1", "up"},
};

class Remat {
 public:
  Remat(ForeignKeys& keys, Training* training) : k_(keys), t_(*training) {}

  void Read() {
    const std::string policy = k_.Text("remat_policy").value_or("full");
    if (policy == "none") {
      t_.set_recompute(Training::NONE);
      return;
    }
    const Policy* known = nullptr;
    std::vector<std::string> names = {"none", "custom"};
    for (const Policy& p : kPolicies) {
      names.emplace_back(p.name);
      if (policy == p.name) known = &p;
    }
    if (policy == "custom") {
      Custom();
    } else if (known == nullptr) {
      return k_.Refuse("remat_policy", absl::StrCat("expected one of ", absl::StrJoin(names, ", ")));
    } else {
      for (const absl::string_view part : absl::StrSplit(known->kept, '+', absl::SkipEmpty()))
        kept_[std::string(part)] = true;
      if (known->offloads) Offloaded("remat_policy");
    }
    SetModules();
  }

 private:
  void Offloaded(const char* key) {
    k_.LeaveOut(key, "the tensors stay on the device, without copies to the host and back");
  }

  // Whether the tensor is kept, on the device or on the host.
  bool Kept(const char* key, bool fallback) {
    const std::string place = k_.Text(key).value_or(fallback ? "device" : "remat");
    if (place == "offload") Offloaded(key);
    if (place == "device" || place == "offload") return true;
    if (place != "remat") k_.Refuse(key, "expected device, offload or remat");
    return false;
  }

  void Custom() {
    if (!Kept("decoder_layer_input", true))
      k_.LeaveOut("decoder_layer_input", "the input of each layer is kept");
    std::map<std::string, std::vector<std::string>> kept, made;
    for (const Tensor& t : kTensors) {
      const bool joined = t.part == std::string("up") || t.key == std::string("qkv_proj");
      if (joined && !k_.Has(t.key)) continue;
      (Kept(t.key, false) ? kept : made)[t.part].emplace_back(t.key);
    }
    if (k_.Has("mlpwo")) Kept("mlpwo", false);  // nothing reads it
    // The query is the largest part of its GEMM, and the two inputs of the activation are equally large.
    for (const auto& [part, keys] : kept) {
      const std::vector<std::string>& others = made[part];
      const bool whole = others.empty() || keys.front() == "query_proj" || keys.back() == "qkv_proj";
      kept_[part] = whole;
      if (others.empty() || keys.back() == "qkv_proj") continue;
      k_.LeaveOut(absl::StrCat(absl::StrJoin(keys, ", "),
                               whole ? ": kept together with " : ": made again with ",
                               absl::StrJoin(others, ", ")));
    }
  }

  void SetModules() {
    t_.set_recompute(Training::SELECTIVE);
    std::vector<std::string> modules = {"layernorm"};
    if (!kept_["qkv"]) modules.emplace_back("qkv_proj");
    if (!kept_["context"]) modules.emplace_back("core_attn");
    if (!kept_["out"]) modules.emplace_back("out_proj");
    if (!kept_["up"]) modules.emplace_back("mlp_up");
    t_.set_recompute_modules(absl::StrJoin(modules, "+"));
  }

  ForeignKeys& k_;
  Training& t_;
  std::map<std::string, bool> kept_;  // by part
};

}  // namespace

void ReadRemat(ForeignKeys& keys, Training* training) { Remat(keys, training).Read(); }

}  // namespace chakra::foreign
