// The communication of weights and gradients between ranks of dp, in closed form: when gradients are reduced
// and weights gathered, in the buckets of generate::Sharing.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/plan/pipeline.h"
#include "replay/plan/prices.h"
#include "replay/plan/unit.h"
#include "trace/generate/sizes.h"

namespace chakra::planning {

// Minimum times of a forward and a backward pass, in picoseconds.
struct LeastPasses {
  double forward = 0, backward = 0;
};

// The shared weights and gradients of one step. All arguments must outlive the object.
class SharedTimes {
 public:
  SharedTimes(const generate::StepPlan& step, const Units& units, Prices* prices);

  // Whether any ranks hold the same weights.
  bool any() const { return dense_ >= 0 || expert_ >= 0; }
  // The time to reduce `elements` gradients over the copies of the weights (parallel.copies).
  absl::StatusOr<double> OverCopies(bool expert, int64_t elements);

  // The units of a piece of the model in the order of its forward pass: the embedding, its layers, the head.
  std::vector<const UnitTimes*> UnitsOfPiece(int64_t piece) const;

  // The time to gather the weights of a unit with zero 3.
  absl::StatusOr<double> Gather(const UnitTimes& unit);
  // Copies on the stream of computation that go with gathering and reducing: from gathered weights to whole
  // weights, and from gradients to shares.
  struct Copies {
    double gathered = 0, reduced = 0;
  };
  absl::StatusOr<Copies> CopiesOf(const UnitTimes& unit);
  absl::StatusOr<double> Reduce(const UnitTimes& unit);

  // The end of the last pass and of all reductions, for a step with zero 3 on one stage: weights are gathered
  // one unit ahead, and gradients are reduced after each unit. `least`: minimum times of the passes.
  // Precondition: zero 3, no pipeline.
  absl::StatusOr<double> WholeStep(const LeastPasses& least);

  // The time when the gradients of a stage are reduced.
  absl::StatusOr<double> Reduced(int64_t stage, const PipelineTimes& pipeline);
  // The time to gather all weights of a stage. If `ready` is not null, it gets for each unit of the stage's
  // first piece the time when its weights are gathered.
  absl::StatusOr<double> GatherAll(int64_t stage, std::vector<double>* ready);

  // The number of elements of a stage's weights on one rank: dense weights, those of experts, those that each
  // rank of tp has whole, and those that the rank updates.
  struct Weights {
    int64_t dense = 0, expert = 0, replicated = 0, own = 0;
  };
  Weights WeightsOf(int64_t stage) const;

 private:
  absl::StatusOr<double> Bucket(bool expert, CollectiveType type, int64_t bytes);
  // The end of the reductions of one micro-batch. Its backward passes begin `earlier` before those of the
  // last micro-batch, and the stream of reductions is free from `reduced` on.
  absl::StatusOr<double> ReducedInBuckets(int64_t stage, const PipelineTimes& pipeline, double earlier,
                                          double reduced);

  // A bucket and the time of its collective. Buckets of layers repeat.
  struct Known {
    int64_t bytes = 0;
    int groups = 0;
    CollectiveType type = CollectiveType::kAllReduce;
    double time = 0;
  };

  const generate::StepPlan& step_;
  const Units& units_;
  Prices* prices_;
  // Ids of groups (Prices::GroupsOf()).
  int dense_ = -1, expert_ = -1, dense_copies_ = -1, expert_copies_ = -1;
  std::vector<Known> known_;
};

}  // namespace chakra::planning
