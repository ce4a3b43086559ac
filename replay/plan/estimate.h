// The time of a step in closed form, from the units of the model, the recurrences of the pipeline, and the
// buckets that ranks of dp share. Each piece has the price that a replay gives it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "replay/plan/pipeline.h"
#include "replay/plan/prices.h"
#include "replay/plan/unit.h"
#include "trace/generate/sizes.h"

namespace chakra::planning {

// Estimates steps of one model. Not thread-safe, since it caches what splits have in common.
class Estimator {
 public:
  explicit Estimator(Prices* prices) : prices_(prices) {}

  // Returns the picoseconds of a step. `variant` is a number that the caller gives to steps that differ in
  // more than their split, micro-batch and recomputation. Errors: those of prices.
  absl::StatusOr<double> TimeOf(const generate::StepPlan& step, int variant);
  // The number of nodes of all ranks of the step, without the few nodes at its end.
  absl::StatusOr<double> NodesOf(const generate::StepPlan& step, int variant);

  // The number of distinct sets of units that were measured; many splits share each.
  size_t units() const { return units_.size(); }

 private:
  using Key = std::array<int64_t, 12>;
  // The time of the optimizer for a number of elements, in picoseconds. `host`: of the thread that launches
  // the update of matrices one by one.
  struct Updates {
    double norm = 0, update = 0, host = 0;
  };

  absl::StatusOr<const Units*> UnitsOf(const generate::StepPlan& step, int variant, Key* key);
  absl::StatusOr<Updates> UpdatesOf(const generate::StepPlan& step, int64_t elements, int variant);
  // Of an optimizer of whole matrices (Muon, SOAP).
  absl::StatusOr<Updates> MatrixUpdatesOf(const generate::StepPlan& step, int64_t stage);

  Prices* prices_;
  Pipelines pipelines_;
  absl::flat_hash_map<Key, std::unique_ptr<Units>> units_;
  absl::flat_hash_map<std::pair<int, int64_t>, Updates> updates_;
  // The last pipeline. Splits that differ only in zero 0 to 2 share it.
  std::array<int64_t, 17> pipeline_key_ = {};
  PassTimes passes_;
  PipelineTimes pipeline_;
};

}  // namespace chakra::planning
