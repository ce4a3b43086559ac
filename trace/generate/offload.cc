#include "trace/generate/offload.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/generate/not_yet.h"

namespace chakra::generate {
namespace {

// Weights per second that Adam of Megatron-LM's HybridDeviceOptimizer updates for each rank on the host of 8
// H100, with all ranks at work. Qwen3-30B-A3B with tp 2, pp 2 and ep 4 on 16 H100, 1.909e9 weights a rank,
// takes 2,881 ms more if copies overlap with the update, and 3,193 ms more if not (Megatron-Bridge,
// skills/nemo-mbridge-perf-cpu-offloading/card.yaml, of 2026-03-30).
constexpr double kHostUpdates = 6.6e8;

absl::Status TakeNames(absl::string_view names, bool* activations, bool* optimizer) {
  const std::vector<std::string> known = {"activations", "optimizer"};
  for (const absl::string_view name : absl::StrSplit(names, '+', absl::SkipEmpty())) {
    const bool first = name == known[0];
    if (!first && name != known[1]) {
      return absl::InvalidArgumentError(
          absl::StrCat("training.offload has \"", name, "\"", SuggestName(std::string(name), known)));
    }
    bool& taken = first ? *activations : *optimizer;
    if (taken) return absl::InvalidArgumentError(absl::StrCat("training.offload has \"", name, "\" twice"));
    taken = true;
  }
  return absl::OkStatus();
}

absl::Status CheckActivations(const StepPlan& p) {
  const TrainingPlan& t = p.training;
  const auto refuse = [](absl::string_view field, absl::string_view value, absl::string_view expected) {
    return absl::InvalidArgumentError(absl::StrCat("parallel.", field, " is ", value,
                                                   "; with training.offload=activations expected ", expected,
                                                   ", as Megatron-LM's cpu_offloading does"));
  };
  if (p.split.pp > 1) return refuse("pp", absl::StrCat(p.split.pp), "1");
  if (t.recompute != proto::Training::NONE)
    return absl::InvalidArgumentError(
        "training.recompute is given; with training.offload=activations expected recompute=none");
  if (t.graphs)
    return absl::InvalidArgumentError(
        "training.cuda_graphs is yes; with training.offload=activations expected cuda_graphs=no");
  if (p.model.mtp > 0) return NotYet("training.offload=activations with model.mtp", "mtp=0");
  if (p.model.layers < 2)
    return absl::InvalidArgumentError(
        "model.layers is 1; with training.offload=activations expected 2 or more");
  if (t.offload.layers >= p.model.layers) {
    return absl::InvalidArgumentError(absl::StrCat("training.offload_layers is ", t.offload.layers,
                                                   "; expected less than model.layers, ", p.model.layers,
                                                   "; the nearest is ", p.model.layers - 1));
  }
  return absl::OkStatus();
}

absl::Status CheckOptimizer(const StepPlan& p) {
  const auto optimizer = p.training.optimizer;
  if (optimizer != proto::Training::ADAM && optimizer != proto::Training::ADAMW) {
    return NotYet(absl::StrCat("training.offload=optimizer with optimizer=",
                               absl::AsciiStrToLower(proto::Training::Optimizer_Name(optimizer))),
                  "adam, adamw");
  }
  if (p.split.zero == 1 || p.split.zero == 2) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("parallel.zero is ", p.split.zero,
                   "; with training.offload=optimizer expected Megatron-LM's distributed optimizer, "
                   "zero=1"));
}

}  // namespace

absl::Status TakeOffload(const proto::Training& t, const ModelSize& model, Offload* out) {
  bool activations = false, optimizer = false;
  RETURN_IF_ERROR(TakeNames(t.offload(), &activations, &optimizer));
  if (t.has_offload_layers() && !activations)
    return absl::InvalidArgumentError(
        "training.offload_layers is for activations; expected training.offload=activations too");
  const std::pair<const char*, bool> of_optimizer[] = {{"offload_share", t.has_offload_share()},
                                                       {"overlap_offload", t.has_overlap_offload()},
                                                       {"host_updates_per_s", t.has_host_updates_per_s()}};
  for (const auto& field : of_optimizer) {
    if (field.second && !optimizer) {
      return absl::InvalidArgumentError(absl::StrCat(
          "training.", field.first, " is for the optimizer; expected training.offload=optimizer too"));
    }
  }
  if (activations) out->layers = t.has_offload_layers() ? t.offload_layers() : model.layers - 1;
  out->activations = activations;
  if (optimizer) out->share = t.has_offload_share() ? t.offload_share() : 1;
  out->overlaps = t.overlap_offload();
  out->updates_per_s = t.has_host_updates_per_s() ? t.host_updates_per_s() : kHostUpdates;
  return absl::OkStatus();
}

absl::Status CheckOffload(const StepPlan& p) {
  const Offload& offload = p.training.offload;
  if (!offload.any()) return absl::OkStatus();
  if (p.training.framework != proto::Training::MEGATRON)
    return NotYet("training.offload with another framework", "framework=megatron");
  if (offload.activations) {
    RETURN_IF_ERROR(CheckActivations(p));
  }
  return offload.share > 0 ? CheckOptimizer(p) : absl::OkStatus();
}

int64_t UpdatedByHost(const StepPlan& p, int64_t own) {
  return std::min<int64_t>(own, std::llround(p.training.offload.share * static_cast<double>(own)));
}

int64_t HostUpdateNs(const StepPlan& p, int64_t weights) {
  return std::llround(static_cast<double>(weights) * 1e9 / p.training.offload.updates_per_s);
}

}  // namespace chakra::generate
