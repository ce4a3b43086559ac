// In which order a pipeline stage runs its forward and backward passes.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generate/sizes.h"

namespace chakra::generate {

// One pass of one micro-batch through one piece of the model on a stage.
struct Pass {
  // Of a backward pass: what it computes gradients of.
  enum Part : uint8_t { kWhole, kInputs, kWeights };
  bool forward = true;
  int64_t micro_batch = 0;
  int64_t piece = 0;  // of the stage, 0 to Split::stage_pieces() - 1
  Part part = kWhole;
  bool merged =
      false;  // runs together with the next one, each one's communication behind the other's computation
};

// The passes of `stage` (0 to pp - 1), one after the other:
// gpipe: all forward, then all backward. 1f1b: min(pp - stage - 1, m) forward, then one forward and one
// backward in turn, then what is left. interleaved (Narayanan et al., "Efficient Large-Scale Language Model
// Training", 2021, section 2.2; megatron/core/pipeline_parallel/schedules.py): pieces in turn, each for pp
// micro-batches; min(2 (pp - stage - 1) + (vpp - 1) pp, m vpp) forward first. With overlap_expert one more
// forward pass first, and those that follow each other in turn run together. zb-h1 (Qi et al., "Zero Bubble
// Pipeline Parallelism", 2023, section 2.1): 1f1b, whose gradients of weights wait until `stage` backward
// passes more have run, so that each stage keeps as much as stage 0 and the waits at the end are filled.
// dualpipe (DeepSeek-V3, 2024, section 3.2.1, and its published schedule in eight steps): half of the
// micro-batches from each end; those of stage 0 are the first half. dualpipev: the same where a stage's
// second piece is of the way back.
std::vector<Pass> PassesOf(const Split& split, int64_t micro_batches, int64_t stage);

// The most passes whose forward is done and whose backward is not, at any time: what a stage keeps
// activations of. Gradients of weights may still be to come.
int64_t MostInFlight(const std::vector<Pass>& passes);

}  // namespace chakra::generate
