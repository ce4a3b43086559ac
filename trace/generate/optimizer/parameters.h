// The weights of a stage one by one, as an optimizer of whole matrices (Muon, SOAP) sees them, and which rank
// updates which.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generate/block.h"
#include "trace/generate/matrix_plan.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {

// Equal weights on a rank. Megatron-LM has one weight for queries, keys and values, and one for gate and up;
// elsewhere each matrix is a weight.
struct Parameter {
  int64_t elements = 0;  // of one
  int64_t count = 1;
  bool expert = false;  // ranks of ep have different ones
  // What the optimizer works on, each with count 1, or the experts that FSDP holds as one weight. Empty:
  // AdamW updates the weight.
  std::vector<WeightMatrix> matrices;
};

// The weights of all pieces of a stage, in the order of the model: of layers of one kind, all copies of a
// weight follow each other. AdamW has embeddings, the head with what follows it, norms, biases and filters;
// the vectors of an operation count as one weight. The elements are those of StageGraph::weights and
// expert_weights. Precondition: no adapters.
std::vector<Parameter> ParametersOf(const StepPlan& plan, int64_t stage);

// Bytes that the optimizer keeps for a weight in addition to the weight and its gradient: 4 an element for
// Muon's momentum, 8 for the averages of AdamW and SOAP; a second moment of rows or elements; SOAP's two
// factors and two bases.
int64_t StateBytes(const TrainingPlan& training, const Parameter& parameter);

// The weights that one rank updates, where ranks own whole weights or matrices. Ranks have unequal work, and
// all wait for the one with the most, which stands for each of them. The rank with the most work of dense
// weights and that with the most work of experts count as one.
//
// Layerwise: weights sorted by their elements go to the ranks in turn, forward and then backward
// (Megatron-LM, core/optimizer/layer_wise_optimizer.py, shard_params). Weights of equal size keep their order
// here. Gathered: with zero=1 and 2 those in an equal share of all elements, where a matrix at the border is
// in both shares (DeepSpeed, stage_1_and_2.py, get_flat_partition); with zero=3 in turn (stage3.py). In these
// two, vectors are not in the result, since their updates are shared by elements.
std::vector<Parameter> OwnedByLargest(const StepPlan& plan, const std::vector<Parameter>& all);

// The elements of all of these weights.
int64_t ElementsOf(const std::vector<Parameter>& parameters);

// The number of elements that a rank updates: those of its own weights, of its share, or all.
int64_t UpdatedElements(const StepPlan& plan, const std::vector<Parameter>& all);

// Bytes of StateBytes(), and `master` bytes for each element, on the rank that has most.
int64_t MostOptimizerBytes(const StepPlan& plan, const std::vector<Parameter>& all, int64_t master);

}  // namespace chakra::generate
