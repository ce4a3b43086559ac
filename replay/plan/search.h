// Finds all splits of a workload that fit, with their time in closed form.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/plan/estimate.h"
#include "replay/plan/prices.h"
#include "replay/plan/space.h"
#include "trace/generate/sizes.h"

namespace chakra::planning {

// A split that was tried.
struct TriedSplit {
  generate::Split split;
  int64_t micro_batch = 1;
  RecomputeChoice recompute;
  int variant = 0;         // number in SplitSpace::variants
  double estimate_ps = 0;  // 0: the split does not fit
  int64_t peak_bytes = 0;  // maximum of the first and the last stage
  double nodes = 0;        // of all ranks, approximately
  uint64_t order = 0;      // in which splits were tried
};

struct Found {
  uint64_t splits = 0, not_valid = 0, too_large = 0;
  struct Reason {
    uint64_t splits = 0;
    std::string example;  // the first message with this reason
  };
  std::map<std::string, Reason> reasons;
  std::vector<TriedSplit> fitting;  // sorted by estimate, the fastest first
  TriedSplit closest;               // the split that lacks the least memory, if any is too large
};

// Tries all combinations of `space` on `prices.ranks()` ranks. `limit`: bytes of a rank, 0: no limit. Only
// the memory of the first and the last stage is checked, which hold most; the caller must check all stages of
// the splits that it uses. Splits of equal time are in the order in which they were tried. Errors: those of
// prices; Cancelled by the caller's StopScope.
absl::StatusOr<Found> FindSplits(const SplitSpace& space, uint64_t limit, Prices* prices);

// Resolves a split to its step. Errors: those of generate::ResolvePlan(); none for a split that FindSplits()
// returned.
absl::StatusOr<generate::StepPlan> StepOf(const SplitSpace& space, const TriedSplit& split);
// The workload of a split, for a replay.
proto::Workload WorkloadOf(const SplitSpace& space, const TriedSplit& split);

}  // namespace chakra::planning
