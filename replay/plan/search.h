// All splits of a workload that fit, by their closed form.
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

// A split that was looked at.
struct TriedSplit {
  generate::Split split;
  int64_t micro_batch = 1;
  RecomputeChoice recompute;
  int variant = 0;         // of the space
  double estimate_ps = 0;  // 0: it does not fit
  int64_t peak_bytes = 0;  // of the first and the last stage, the larger
  double nodes = 0;        // of all ranks, about
  uint64_t order = 0;      // in which it was tried
};

struct Found {
  uint64_t splits = 0, not_valid = 0, too_large = 0;
  struct Reason {
    uint64_t splits = 0;
    std::string example;  // the first
  };
  std::map<std::string, Reason> reasons;
  std::vector<TriedSplit> fitting;  // the fastest first
  TriedSplit closest;               // of those that are too large: lacks least
};

// Tries all combinations of `space` on `prices.ranks()` ranks. `limit`: bytes of a rank, 0: any. Memory is
// that of the first and the last stage, which hold most; who takes a split checks all of them. The order of
// equal ones is that in which they were tried. Errors: those of prices; Cancelled by the caller's StopScope.
absl::StatusOr<Found> FindSplits(const SplitSpace& space, uint64_t limit, Prices* prices);

// The step of a split. Errors: those of generate::ResolvePlan(), which a split of FindSplits() has not.
absl::StatusOr<generate::StepPlan> StepOf(const SplitSpace& space, const TriedSplit& split);
// The workload of a split, for a replay.
proto::Workload WorkloadOf(const SplitSpace& space, const TriedSplit& split);

}  // namespace chakra::planning
