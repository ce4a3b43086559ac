// Which splits are tried: the values of each field, what the workload fixes, and what is usual.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/plan.pb.h"
#include "proto/workload.pb.h"
#include "trace/generate/sizes.h"

namespace chakra::planning {

// What is made again: training.recompute, and with selective training.recompute_modules.
struct RecomputeChoice {
  proto::Training::Recompute what = proto::Training::NONE;
  generate::ModuleSet modules;
  bool by_default = true;  // the modules are those that recompute=selective alone has
};

// Values by field. All other fields that --try names are in `variants`.
struct SplitSpace {
  int domain = 0;  // of the machine, for ResolvePlan()
  std::vector<int64_t> tp, cp, pp, vpp, dp, ep, etp,
      micro_batch;  // dp empty: what the others leave of the ranks
  std::vector<int> zero;
  bool zero_is_default = false;  // then 2 and 3 are tried without a pipeline alone
  std::vector<RecomputeChoice> recompute;
  std::vector<proto::Workload>
      variants;  // the workload with one combination of the other fields each; at least one
  std::vector<std::string> variant_names;  // "cp_kind=ulysses dtype=fp8"; "" where there is one
  std::vector<proto::PlanAxis> axes;       // for the report
};

// `tries`: "FIELD=V,V,..." or "FIELD=A..B" (A, 2 A, 4 A, ... up to B), each of a field of `parallel` or
// `training`, by its path or its key alone. Fields that are neither there nor in the workload have the values
// that are usual:
// - tp: divisors of the heads and of the ranks, within `node` devices; sp goes with it
// - pp: divisors of the layers and of the ranks, of an uneven model of the ranks alone; vpp: divisors of the
// layers up to 10
// - cp: powers of two that leave a rank 4,096 tokens; ep: divisors of the experts and of the ranks; etp: 1
// - zero: 0 and 1, and without a pipeline 2 and 3 (DeepSpeed's rule); that of the framework with fsdp and
// ddp. Weights are
//   gathered while the forward pass goes on
// - micro_batch: 1, 2, 4, 8; recompute: none and full, and selective with attention=math, where the workload
// or `tries` name modules, and of a model of experts with modules that are cheap to make again: norms, the
// activation of experts, latent attention's up projections
//
// Errors (InvalidArgument): training.global_batch or training.seq is missing, a field or value that there is
// not (with the nearest), a workload that does not resolve.
absl::StatusOr<SplitSpace> MakeSplitSpace(const proto::Workload& workload,
                                          const std::vector<std::string>& tries, int ranks, int node);

// Sets the fields of a split in a workload, for a replay.
void SetSplit(const generate::StepPlan& step, proto::Workload* workload);
// The same as words: "--parallel tp=8,... --training micro_batch=1,..."
std::string SplitOptions(const proto::Workload& workload);
// The model as a word of --model: "NAME:key=value,...", or keys alone.
std::string ModelOptions(const proto::Workload& workload);

}  // namespace chakra::planning
