#include "trace/generate/precision.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/generate/block.h"
#include "trace/generate/not_yet.h"
#include "trace/generate/windows.h"

namespace chakra::generate {
namespace {

using proto::Training;

bool IsGemm(const Operation& op) { return op.act == Act::kExpertProduct || IsDenseGemm(op.act); }

// Reads "attention:bf16+mamba.out:fp8".
absl::Status TakeDtypes(const std::string& text, TrainingPlan* out) {
  if (text.empty()) return absl::OkStatus();
  const std::pair<const char*, Training::Dtype> known[] = {
      {"bf16", Training::BF16}, {"fp8", Training::FP8}, {"nvfp4", Training::NVFP4}};
  for (const absl::string_view one : absl::StrSplit(text, '+')) {
    const std::pair<std::string, std::string> both = absl::StrSplit(one, absl::MaxSplits(':', 1));
    const auto* found = std::find_if(std::begin(known), std::end(known),
                                     [&](const auto& k) { return both.second == k.first; });
    if (both.first.empty() || found == std::end(known)) {
      return absl::InvalidArgumentError(
          absl::StrCat("training.gemm_dtypes has \"", one,
                       "\"; expected a module and bf16, fp8 or nvfp4, as attention:bf16+mamba.out:fp8"));
    }
    for (const GemmDtype& earlier : out->gemm_dtypes) {
      if (earlier.module == both.first)
        return absl::InvalidArgumentError(
            absl::StrCat("training.gemm_dtypes has \"", both.first, "\" twice"));
    }
    out->gemm_dtypes.push_back({both.first, found->second});
  }
  return absl::OkStatus();
}

// The modules of all GEMMs whose dtype can be chosen.
std::vector<std::string> ModulesOf(const StepPlan& plan) {
  std::vector<std::string> out;
  const Blocks blocks(plan);
  for (const Block& block : blocks.kinds()) {
    for (const Operation& op : block.operations) {
      if (IsGemm(op) && std::find(out.begin(), out.end(), op.part) == out.end()) out.emplace_back(op.part);
    }
  }
  return out;
}

}  // namespace

absl::Status TakePrecision(const Training& t, const ModelSize& model, TrainingPlan* out) {
  out->dtype = t.dtype();
  out->looks_before_cast = t.fp8() == Training::CURRENT;
  out->block_scales = t.fp8() == Training::MXFP8;
  out->hadamard = !t.has_hadamard() || t.hadamard();
  out->stochastic = !t.has_stochastic() || t.stochastic();
  const bool exceptions = !t.bf16_layers().empty() || !t.gemm_dtypes().empty();
  if (exceptions && (t.dtype() == Training::FP16 || t.dtype() == Training::FP32)) {
    return absl::InvalidArgumentError(
        absl::StrCat("training.", t.bf16_layers().empty() ? "gemm_dtypes" : "bf16_layers", " is \"",
                     t.bf16_layers().empty() ? t.gemm_dtypes() : t.bf16_layers(),
                     "\"; expected none with dtype=fp16 and fp32; the nearest dtype is bf16"));
  }
  RETURN_IF_ERROR(TakeDtypes(t.gemm_dtypes(), out));
  const bool narrow = out->narrow() || std::any_of(out->gemm_dtypes.begin(), out->gemm_dtypes.end(),
                                                   [](const auto& g) { return g.dtype != Training::BF16; });
  if (!t.bf16_layers().empty()) {
    if (!narrow) {
      return absl::InvalidArgumentError(
          absl::StrCat("training.bf16_layers is \"", t.bf16_layers(),
                       "\", but no GEMM is narrower; expected dtype=fp8 or nvfp4, or no bf16_layers"));
    }
    const int64_t layers = std::min<int64_t>(1024, model.layers + (model.mtp > 0 ? 1 : 0));
    RETURN_IF_ERROR(TakeLayers("training.bf16_layers", t.bf16_layers(), layers, &out->bf16_layers));
  }
  for (const auto& [field, given] :
       {std::pair{"hadamard", t.has_hadamard()}, {"stochastic", t.has_stochastic()}}) {
    const bool four = out->dtype == Training::NVFP4 ||
                      std::any_of(out->gemm_dtypes.begin(), out->gemm_dtypes.end(),
                                  [](const auto& g) { return g.dtype == Training::NVFP4; });
    if (given && !four)
      return absl::InvalidArgumentError(
          absl::StrCat("training.", field, " is for nvfp4; expected training.dtype=nvfp4 too"));
  }
  return absl::OkStatus();
}

absl::Status CheckPrecision(const StepPlan& plan) {
  const TrainingPlan& t = plan.training;
  if (t.gemm_dtypes.empty()) return absl::OkStatus();
  const std::vector<std::string> modules = ModulesOf(plan);
  for (const GemmDtype& g : t.gemm_dtypes) {
    if (std::any_of(modules.begin(), modules.end(), [&](const std::string& m) { return g.Has(m); })) continue;
    return absl::InvalidArgumentError(absl::StrCat("training.gemm_dtypes has \"", g.module,
                                                   "\", which has no GEMM in this model",
                                                   SuggestName(g.module, modules)));
  }
  if (plan.split.zero == 3) return NotYet("training.gemm_dtypes with parallel.zero=3", "bf16_layers");
  return absl::OkStatus();
}

}  // namespace chakra::generate
