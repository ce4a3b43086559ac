// Gradients and weights of ranks that share a batch: their buckets, and the nodes for which the optimizer
// waits.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generate/layers.h"
#include "trace/generate/sizes.h"
#include "trace/generate/step.h"

namespace chakra::generate {

// Weights that are gathered and reduced together: those of the embedding, a layer, or the head.
struct WeightUnit {
  int64_t dense = 0, expert = 0;  // elements on a rank, before dp shares them
  int32_t layer = -1;
};

// Bytes of an element of the gradients that are copied to contiguous shares: those of one pass, or a sum.
int64_t CopiedFrom(const StepPlan& plan);
// Bytes that the cast of `elements` reduced gradients to the dtype in which they are kept reads and writes.
int64_t CastBytes(const StepPlan& plan, int64_t elements);

class Sharing {
 public:
  // The arguments must outlive the object.
  Sharing(const StepPlan& plan, StageGraph* graph);

  // Adds gradients of the last micro-batch, or of each micro-batch with zero 2 and 3, and closes full
  // buckets.
  void Add(const std::vector<Gradient>& gradients, int64_t micro_batch);
  // Closes the open buckets.
  void Flush(int64_t micro_batch);
  // The nodes after which all gradients are complete for the optimizer.
  const NodeList& reduced() const { return reduced_; }

  // Gathers the weights of a unit before their use (zero 3); {}: there is nothing to gather.
  NodeList Gather(const WeightUnit& unit, const Spot& spot, const NodeList& after);
  // Gathers the weights of all units in buckets. Returns the node of each unit, or {}, by the unit's index.
  std::vector<NodeList> GatherAll(const std::vector<WeightUnit>& units, const NodeList& after);

  // The number of elements from which a bucket is full: of gradients, and of gathered weights
  // (Megatron-LM's).
  int64_t BucketElements(bool expert) const;
  int64_t FullBucket(bool expert) const;

 private:
  struct Bucket {
    int64_t elements = 0;
    NodeList nodes;
  };
  void Close(bool expert, int64_t micro_batch);
  // Reduces gradients over the ranks that share a copy of the weights, and over the copies.
  uint32_t Reduce(bool expert, int64_t elements, const Spot& spot, NodeList at);
  int64_t RanksOf(bool expert) const { return plan_.split.sharers(expert); }
  uint32_t GatherOf(bool expert, int64_t elements, const Spot& spot, const NodeList& after);
  uint32_t CastOf(int64_t elements, const Spot& spot, uint32_t at);

  const StepPlan& plan_;
  StageGraph* graph_;
  Bucket open_[2];  // dense, expert
  NodeList reduced_;
};

}  // namespace chakra::generate
