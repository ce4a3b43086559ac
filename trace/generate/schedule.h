// The order in which a pipeline stage runs its forward and backward passes.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generate/sizes.h"

namespace chakra::generate {

// One pass of one micro-batch through one piece of the model on a stage.
struct Pass {
  // The gradients that a backward pass computes.
  enum Part : uint8_t { kWhole, kInputs, kWeights };
  bool forward = true;
  int64_t micro_batch = 0;
  int64_t piece = 0;  // index of the piece on the stage, 0 to Split::stage_pieces() - 1
  Part part = kWhole;
  bool merged =
      // runs together with the next pass: the computation of each hides the communication of the other
      false;
};

// The passes of `stage` (0 to pp - 1) in order, for m micro-batches: gpipe: all forward passes, then all
// backward passes. 1f1b: min(pp - stage - 1, m) forward passes, then one forward and one backward pass in
// turn, then the remaining backward passes. interleaved (Narayanan et al., "Efficient Large-Scale Language
// Model Training", 2021, section 2.2; megatron/core/pipeline_parallel/schedules.py): pieces in turn, each for
// pp micro-batches; min(2 (pp - stage - 1) + (vpp - 1) pp, m vpp) forward passes come first. With
// overlap_expert, one more forward pass comes first, and the passes that then alternate run together in
// pairs. zb-h1 (Qi et al., "Zero Bubble Pipeline Parallelism", 2023, section 2.1): 1f1b in which the
// gradients of weights wait until `stage` more backward passes have run, so that each stage keeps as much as
// stage 0, and the waits at the end are filled. dualpipe (DeepSeek-V3, 2024, section 3.2.1, and its published
// schedule in eight steps): half of the micro-batches enter at each end; those of stage 0 are the first half.
// dualpipev: as dualpipe, where the second piece of a stage is on the way back.
std::vector<Pass> PassesOf(const Split& split, int64_t micro_batches, int64_t stage);

// The maximum number of passes in flight: their forward pass has run and their backward pass has not, so the
// stage keeps their activations. Gradients of weights may still be missing after the backward pass.
int64_t MostInFlight(const std::vector<Pass>& passes);

}  // namespace chakra::generate
