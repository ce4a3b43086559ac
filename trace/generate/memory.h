// What a rank of a step holds in its device's memory when that is most.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generate/sizes.h"

namespace chakra::generate {

// Bytes that tensors take at the peak, which is in a backward pass while as many micro-batches are in flight
// as the schedule has at most. Not counted: the device's context, buffers of communication libraries, what
// the allocator rounds and cannot use (SimuMax's 43 runs on B200 reserve 1.03 to 1.09 times what is
// allocated).
struct RankMemory {
  int64_t weights = 0;      // in the type of products; shares of them with zero 3, and what is gathered
  int64_t gradients = 0;    // kept over micro-batches
  int64_t optimizer = 0;    // fp32 weights where products have another type, and averages
  int64_t activations = 0;  // kept for the backward pass, of all micro-batches in flight
  int64_t working = 0;  // logits and the head's gradients, one layer's temporaries, recomputed activations,
                        // buffers of a framework
  int64_t host = 0;     // in the host's memory: offloaded activations, and the optimizer's copies of weights,
                        // gradients and averages
  int64_t in_flight = 0;  // passes whose backward is still to come, of pieces of the stage
  int64_t total() const { return weights + gradients + optimizer + activations + working; }
};

// Of each rank of `stage`; of a model of tables, of each rank of a role: MemoryOfTables().
//
// Activations are those of the passes in flight at the instant when they are most, each of its own piece of
// the model. A pass whose gradients of weights wait (zb-h1, dualpipe) keeps what they are made of:
// DeferredOfLayer().
//
// States, bytes a parameter (Megatron-LM's documentation, "Distributed Optimizer"; Rajbhandari et al.,
// "ZeRO", 2020): bf16 with fp32 gradients 2 + 4 + 12, with bf16 gradients and fp16 2 + 2 + 16, fp32 4 + 4 +
// 8; SGD keeps one average. zero 1 shares the last over ranks of dp, 2 the gradients too, 3 all. FSDP
// (torchtitan) shares fp32 weights, and two layers are gathered at a time.
//
// Activations, by what the backward pass of a layer reads (Korthikanti et al., 2022, section 4.1, without
// dropout): inputs and outputs of norms, queries, keys, values, attention's output and its sums, the MLP's
// products. Recomputation of the core keeps no scores; full recomputation keeps a layer's input, or
// the input of so many layers as are made again at once.
RankMemory MemoryOfStage(const StepPlan& plan, int64_t stage);

// Bytes of one layer's activations of one micro-batch, without recomputation.
int64_t ActivationsOfLayer(const StepPlan& plan, int64_t layer);
// What of a layer and micro-batch waits for the gradients of weights: inputs of its products and the
// gradients of their outputs.
int64_t DeferredOfLayer(const StepPlan& plan, int64_t layer);

}  // namespace chakra::generate
