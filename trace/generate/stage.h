// Builds the whole step of one pipeline stage.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "trace/generate/sizes.h"
#include "trace/generate/step.h"

namespace chakra::generate {

// The graph of each rank of `stage` (0 to pp - 1) in one step: gradients are cleared, the passes of
// schedule.h run, gradients are reduced in buckets, and the optimizer updates the rank's weights. Sharing
// over dp:
// - zero 0: gradients are all-reduced after their last micro-batch. 1: they are reduce-scattered, and the
// weights
//   are gathered after the update, or before their first use (overlap_param). 2: as 1, in every micro-batch.
//   Buckets are filled in the order in which gradients are computed. Megatron-LM's have 40 million elements
//   or 1 million for each rank that shares them, DDP's 25 MiB.
// - zero 3: layer by layer, weights are gathered before each use, at most one layer ahead, and gradients are
//   reduce-scattered after each backward pass. FSDP in a pipeline gathers them for the first forward pass,
//   keeps them, and reduces after the last micro-batch; without reshard_after_forward, the backward pass
//   gathers nothing.
// With `copies`, gradients are then all-reduced over the copies.
// For a recommendation model, the graph of the ranks of role `stage`: BuildTableStage(). Errors
// (ResourceExhausted): more than kMostNodes nodes.
absl::StatusOr<StageGraph> BuildStage(const StepPlan& plan, int64_t stage);

inline constexpr size_t kMostNodes = size_t{1} << 26;

// The stages of a step, and its plan, which has the stage of each rank.
struct StepGraphs {
  StepPlan plan;
  std::vector<StageGraph> stages;  // Split::graphs() of them
};

}  // namespace chakra::generate
