// Which splits are tried: for each field, the workload's value, the values of --try, or usual values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/plan.pb.h"
#include "proto/workload.pb.h"
#include "trace/generate/resolve.h"
#include "trace/generate/sizes.h"

namespace chakra::planning {

// What is recomputed: training.recompute, and if selective, training.recompute_modules.
struct RecomputeChoice {
  proto::Training::Recompute what = proto::Training::NONE;
  generate::ModuleSet modules;
  bool by_default = true;  // the modules are the default of recompute=selective
};

// Values by field. Fields that --try names and that are not here are in `variants`.
struct SplitSpace {
  int domain = 0;  // of the machine, for ResolvePlan()
  std::vector<int64_t> tp, cp, pp, vpp, dp, ep, etp,
      micro_batch;  // empty dp: the ranks divided by the others
  std::vector<int> zero;
  bool zero_is_default = false;  // then 2 and 3 are tried only without a pipeline
  std::vector<RecomputeChoice> recompute;
  std::vector<proto::Workload>
      variants;  // the workload with each combination of the other fields of --try; at least one
  std::vector<std::string> variant_names;  // "cp_kind=ulysses dtype=fp8"; "" if there is only one
  std::vector<proto::PlanAxis> axes;       // for the report
};

// `tries`: "FIELD=V,V,..." or "FIELD=A..B" (A, 2 A, 4 A, ... up to B), each for a field of `parallel` or
// `training`, by its path or its key alone. A field that is neither in `tries` nor in the workload has the
// usual values:
// - tp: divisors of the heads and of the ranks, within `node` devices; sp is on if tp > 1
// - pp: divisors of the layers and of the ranks (for an uneven model only of the ranks)
// - vpp: divisors of the layers up to 10
// - cp: powers of two that leave a rank at least 4,096 tokens
// - ep: divisors of the experts and of the ranks; etp: 1
// - zero: 0 and 1, and without a pipeline 2 and 3 (DeepSpeed's rule). fsdp and ddp have their own value.
//   Weights are gathered while the forward pass runs
// - micro_batch: 1, 2, 4, 8
// - recompute: none and full. Also selective with attention=math, or if the workload or `tries` name modules,
//   and for models of experts with modules that are cheap to recompute: norms, the activation of experts, the
//   up projections of latent attention
//
// Errors (InvalidArgument): training.global_batch or training.seq is missing, an unknown field or value (the
// error has the nearest), a workload that does not resolve.
absl::StatusOr<SplitSpace> MakeSplitSpace(const proto::Workload& workload,
                                          const std::vector<std::string>& tries, int ranks, int node);

// Sets the fields of a split in a workload, for a replay.
void SetSplit(const generate::StepPlan& step, proto::Workload* workload);
// The split as words: "--parallel tp=8,... --training micro_batch=1,..."
std::string SplitOptions(const proto::Workload& workload);
// The model as a value of --model: "NAME:key=value,...", or only the keys.
std::string ModelOptions(const proto::Workload& workload);

}  // namespace chakra::planning
