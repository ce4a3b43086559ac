// What ranks of dp share, in closed form: when gradients are reduced and weights gathered, bucket by bucket
// as generate::Sharing makes them.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/plan/pipeline.h"
#include "replay/plan/prices.h"
#include "replay/plan/unit.h"
#include "trace/generate/sizes.h"

namespace chakra::planning {

// What a forward and a backward pass take at least, in picoseconds.
struct LeastPasses {
  double forward = 0, backward = 0;
};

// The sharing of one step. All arguments must outlive it.
class SharedTimes {
 public:
  SharedTimes(const generate::StepPlan& step, const Units& units, Prices* prices);

  // Whether any ranks hold the same weights.
  bool any() const { return dense_ >= 0 || expert_ >= 0; }

  // The units of a piece of the model in the order of its forward pass: the embedding, its layers, the head.
  std::vector<const UnitTimes*> UnitsOfPiece(int64_t piece) const;

  // Of the weights of a unit, and of its gradients, with zero 3.
  absl::StatusOr<double> Gather(const UnitTimes& unit);
  // Copies that go with them on the stream of computation: of gathered weights to whole ones, and of
  // gradients to shares.
  struct Copies {
    double gathered = 0, reduced = 0;
  };
  absl::StatusOr<Copies> CopiesOf(const UnitTimes& unit);
  absl::StatusOr<double> Reduce(const UnitTimes& unit);

  // When the last pass is over and all gradients are reduced, of a step with zero 3 on one stage: unit by
  // unit, weights are gathered one unit ahead, and gradients reduced behind each unit. `least`: of passes.
  // Precondition: zero 3, no pipeline.
  absl::StatusOr<double> WholeStep(const LeastPasses& least);

  // When the gradients of a stage are reduced.
  absl::StatusOr<double> Reduced(int64_t stage, const PipelineTimes& pipeline);
  // How long the gathering of all weights of a stage takes; `ready`, where not null, gets for each unit of
  // its first piece when its weights are there.
  absl::StatusOr<double> GatherAll(int64_t stage, std::vector<double>* ready);

  // Elements of the weights of a stage on one rank: those of experts and the others, and what of them the
  // rank updates.
  struct Weights {
    int64_t dense = 0, expert = 0, replicated = 0, own = 0;
  };
  Weights WeightsOf(int64_t stage) const;

 private:
  absl::StatusOr<double> Bucket(bool expert, CollectiveType type, int64_t bytes);
  // Of the micro-batch whose backward passes begin `earlier` before those of the last one, where the stream
  // of reductions is free from `reduced` on.
  absl::StatusOr<double> ReducedInBuckets(int64_t stage, const PipelineTimes& pipeline, double earlier,
                                          double reduced);

  // A bucket, and what its collective takes: buckets of layers repeat.
  struct Known {
    int64_t bytes = 0;
    int groups = 0;
    CollectiveType type = CollectiveType::kAllReduce;
    double time = 0;
  };

  const generate::StepPlan& step_;
  const Units& units_;
  Prices* prices_;
  int dense_ = -1, expert_ = -1;  // groups
  std::vector<Known> known_;
};

}  // namespace chakra::planning
