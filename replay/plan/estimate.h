// The time of a step in closed form: the units of the model, the recurrences of the pipeline, and the buckets
// of what ranks share. Each piece costs what a replay says.
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

// Estimates steps of one model. Not thread-safe: it remembers what splits have in common.
class Estimator {
 public:
  explicit Estimator(Prices* prices) : prices_(prices) {}

  // Picoseconds of a step. `variant` tells apart steps that differ in more than their split, micro-batch and
  // recomputation: the caller numbers them. Errors: those of prices.
  absl::StatusOr<double> TimeOf(const generate::StepPlan& step, int variant);
  // Nodes of all ranks of the step, but for the few at its end.
  absl::StatusOr<double> NodesOf(const generate::StepPlan& step, int variant);

  // Of layers and of pipelines that were looked at, for many splits each.
  size_t units() const { return units_.size(); }

 private:
  using Key = std::array<int64_t, 11>;
  // What the optimizer takes for so many elements.
  struct Updates {
    double norm = 0, update = 0;
  };

  absl::StatusOr<const Units*> UnitsOf(const generate::StepPlan& step, int variant, Key* key);
  absl::StatusOr<Updates> UpdatesOf(const generate::StepPlan& step, int64_t elements, int variant);

  Prices* prices_;
  Pipelines pipelines_;
  absl::flat_hash_map<Key, std::unique_ptr<Units>> units_;
  absl::flat_hash_map<std::pair<int, int64_t>, Updates> updates_;
  // Of the last step: zero 0 to 2 leave passes as they are.
  std::array<int64_t, 16> pipeline_key_ = {};
  PassTimes passes_;
  PipelineTimes pipeline_;
};

}  // namespace chakra::planning
