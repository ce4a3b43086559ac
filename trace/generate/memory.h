// The peak memory of a rank's device.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generate/sizes.h"

namespace chakra::generate {

// Bytes of tensors at the peak, which is in a backward pass with the maximum number of micro-batches in
// flight. Not included: the device's context, buffers of communication libraries, and memory that the
// allocator rounds up or cannot use (SimuMax's 43 runs on B200 reserve 1.03 to 1.09 times the allocated
// memory).
struct RankMemory {
  int64_t weights = 0;      // in the dtype of GEMMs; with zero 3, shares of the weights and what is gathered
  int64_t gradients = 0;    // accumulated over micro-batches
  int64_t optimizer = 0;    // averages, and fp32 weights if GEMMs have another dtype
  int64_t activations = 0;  // kept for the backward pass, over all micro-batches in flight
  int64_t working = 0;  // logits and the head's gradients, one layer's temporaries, recomputed activations,
                        // buffers of a framework
  // in the host's memory: offloaded activations, and the optimizer's copies of weights, gradients and
  // averages
  int64_t host = 0;
  int64_t in_flight = 0;  // passes over pieces of the stage whose backward pass has not run yet
  int64_t total() const { return weights + gradients + optimizer + activations + working; }
};

// The memory of each rank of `stage`; of a recommendation model, of each rank of a role: MemoryOfTables().
//
// Activations are those of the passes in flight when these have the most bytes; each pass has those of its
// own piece of the model. A pass whose gradients of weights are deferred (zb-h1, dualpipe) keeps the inputs
// of these gradients: DeferredOfLayer().
//
// States, bytes a parameter (Megatron-LM's documentation, "Distributed Optimizer"; Rajbhandari et al.,
// "ZeRO", 2020), as weights + gradients + optimizer: bf16 with fp32 gradients 2 + 4 + 12, with bf16 gradients
// and fp16 2 + 2 + 16, fp32 4 + 4 + 8; SGD keeps one average. zero 1 shares the optimizer's over ranks of dp,
// zero 2 also the gradients, zero 3 all. FSDP (torchtitan) shares fp32 weights, and gathers two layers at a
// time; in a pipeline, it holds all weights of the stage and the sums of their gradients.
//
// Activations, by what the backward pass of a layer reads (Korthikanti et al., 2022, section 4.1, without
// dropout): inputs and outputs of norms, queries, keys, values, attention's output and its sums, the outputs
// of the MLP's GEMMs. With recomputation of the core no scores are kept. With full recomputation only the
// input of a layer is kept, or of each group of layers that are recomputed together. With recomputation by
// operator, a layer keeps its input and the outputs of Operation::saved.
RankMemory MemoryOfStage(const StepPlan& plan, int64_t stage);
// The same for several stages, or for all: layers are looked at once.
std::vector<RankMemory> MemoryOfStages(const StepPlan& plan, const std::vector<int64_t>& stages);
std::vector<RankMemory> MemoryOfAll(const StepPlan& plan);
// The most bytes of a rank of any stage, and the first such stage.
struct PeakMemory {
  int64_t bytes = 0, stage = 0;
};
PeakMemory PeakOf(const StepPlan& plan);

// Bytes of one layer's activations of one micro-batch, without recomputation.
int64_t ActivationsOfLayer(const StepPlan& plan, int64_t layer);
// Bytes of one layer and micro-batch that wait for the gradients of weights: inputs of the layer's GEMMs, and
// gradients of their outputs.
int64_t DeferredOfLayer(const StepPlan& plan, int64_t layer);

}  // namespace chakra::generate
