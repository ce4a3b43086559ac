// In which order a pipeline stage runs its forward and backward passes.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generate/sizes.h"

namespace chakra::generate {

// One pass of one micro-batch through one piece of the model on a stage.
struct Pass {
  bool forward = true;
  int64_t micro_batch = 0;
  int64_t piece = 0;  // of the stage, 0 to vpp - 1
};

// The passes of `stage` (0 to pp - 1), one after the other:
// gpipe: all forward, then all backward. 1f1b: min(pp - stage - 1, m) forward, then one forward and one
// backward in turn, then what is left. interleaved (Narayanan et al., "Efficient Large-Scale Language Model
// Training", 2021, section 2.2; megatron/core/pipeline_parallel/schedules.py): pieces in turn, each for pp
// micro-batches; min(2 (pp - stage - 1) + (vpp - 1) pp, m vpp) forward first.
std::vector<Pass> PassesOf(const Split& split, int64_t micro_batches, int64_t stage);

// The most passes whose forward is done and whose backward is not, at any time: what a stage keeps
// activations of.
int64_t MostInFlight(const std::vector<Pass>& passes);

}  // namespace chakra::generate
