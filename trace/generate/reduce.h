// Gradients and weights of ranks that share a batch: buckets, and what the optimizer waits for.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generate/layers.h"
#include "trace/generate/sizes.h"
#include "trace/generate/step.h"

namespace chakra::generate {

// Weights that are gathered and reduced together: the embedding, a layer, the head.
struct WeightUnit {
  int64_t dense = 0, expert = 0;  // elements on a rank before dp shares them
  int32_t layer = -1;
};

// Bytes that a cast of so many reduced gradients to the type in which they are kept moves.
int64_t CastBytes(const StepPlan& plan, int64_t elements);

class Sharing {
 public:
  // The arguments must outlive the object.
  Sharing(const StepPlan& plan, StageGraph* graph);

  // Gradients of the last micro-batch, or of each with zero 2 and 3; closes buckets that are full.
  void Add(const std::vector<Gradient>& gradients, int64_t micro_batch);
  // Closes what is open.
  void Flush(int64_t micro_batch);
  // Nodes behind which all gradients are as the optimizer needs them.
  const NodeList& reduced() const { return reduced_; }

  // The weights of a unit, before they are used (zero 3); {}: they are there.
  NodeList Gather(const WeightUnit& unit, const Spot& spot, const NodeList& after);
  // Those of all units in buckets; the node of each unit, or {}, by its index.
  std::vector<NodeList> GatherAll(const std::vector<WeightUnit>& units, const NodeList& after);

  // Elements from which a bucket is full: of gradients, and of weights that are gathered (Megatron-LM's).
  int64_t BucketElements(bool expert) const;
  int64_t FullBucket(bool expert) const;

 private:
  struct Bucket {
    int64_t elements = 0;
    NodeList nodes;
  };
  void Close(bool expert, int64_t micro_batch);
  int64_t RanksOf(bool expert) const { return plan_.split.holders(expert); }
  uint32_t GatherOf(bool expert, int64_t elements, const Spot& spot, const NodeList& after);
  uint32_t CastOf(int64_t elements, const Spot& spot, uint32_t at);

  const StepPlan& plan_;
  StageGraph* graph_;
  Bucket open_[2];  // dense, expert
  NodeList reduced_;
};

}  // namespace chakra::generate
