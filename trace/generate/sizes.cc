#include "trace/generate/sizes.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace chakra::generate {

std::string NamesOf(const ModuleSet& modules) {
  std::string out;
  for (size_t i = 0; i < kModules; ++i) {
    if (modules[i]) absl::StrAppend(&out, out.empty() ? "" : "+", kModuleNames[i]);
  }
  return out;
}

bool GemmDtype::Has(absl::string_view part) const {
  return absl::StartsWith(part, module) && (part.size() == module.size() || part[module.size()] == '.');
}

proto::Training::Dtype TrainingPlan::DtypeOf(bool bf16_layer, absl::string_view part) const {
  if (bf16_layer) return proto::Training::BF16;
  for (const GemmDtype& g : gemm_dtypes) {
    if (g.Has(part)) return g.dtype;
  }
  return dtype;
}

TrainingPlan TrainingPlan::With(proto::Training::Dtype other) const {
  TrainingPlan out = *this;
  out.dtype = other;
  if (other == proto::Training::NVFP4) out.looks_before_cast = out.block_scales = true;
  return out;
}

bool ModelSize::HasSublayer(char letter) const {
  for (int64_t i = 0; i < layers + mtp; ++i) {
    const LayerSpec spec = SpecOf(i);
    if (spec.mixer == letter || spec.mlp == letter) return true;
  }
  return false;
}

int64_t Split::expert_node() const {
  // With order=tp-cp-ep-pp-dp, ranks of other stages are between those of dp.
  int64_t node =
      std::min(ep, std::max<int64_t>(1, (pp_before_dp ? std::min(domain, tp * cp) : domain) / etp));
  while (ep % node != 0) --node;
  return node;
}

double Split::hides() const {
  constexpr double kBetweenNodes = 0.3655;  // proto::Parallel::hidden_share
  if (hidden_share > 0) return hidden_share;
  return overlap_expert && expert_node() < ep ? kBetweenNodes : 1;
}

bool Split::goes_deep(const ModelSize& model) const {
  return etp == 1 && (expert_node() == ep || model.top_groups < model.expert_groups);
}

void Split::ChooseDispatcher(const ModelSize& model) {
  // DeepEP's kernels inside a node are for at most 8 ranks (deepseek-ai/DeepEP, csrc/kernels/configs.cuh);
  // NVIDIA's recipes for larger NVLink domains use HybridEP.
  constexpr int64_t kMostOfDeep = 8;
  deep = goes_deep(model);
  hybrid = deep && domain > kMostOfDeep;
}

bool StepPlan::Recomputes(int64_t layer) const {
  if (training.recompute != proto::Training::FULL) return false;
  layer = std::min(layer, model.layers - 1);
  if (training.recompute_method == proto::Training::UNIFORM) return true;
  if (training.recompute_method == proto::Training::EVERY)
    return (layer + 1) % training.recompute_layers == 0;
  for (const Piece& piece : pieces) {
    if (layer >= piece.first && layer < piece.first + piece.layers)
      return layer < piece.first + training.recompute_layers;
  }
  return true;
}

int64_t StepPlan::padded_outputs() const {
  const int64_t unit = model.image > 0 ? split.tp : split.tp * (split.tp > 1 ? 128 : 1);
  return (model.outputs() + unit - 1) / unit * unit;
}

}  // namespace chakra::generate
