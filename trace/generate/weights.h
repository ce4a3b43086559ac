// The weights of a rank: of its layers, the embedding and the head, and what of them a step trains.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generate/block.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {

WeightShare ShareOfLayer(const StepPlan& plan, int64_t layer);
// The weights of a block that the step trains: its own, or those of its adapters.
WeightShare TrainedOf(const StepPlan& plan, const Block& block);
// The elements that the step trains: all weights of the layer, or its adapters. ShareOfLayer() does not
// include adapters.
WeightShare TrainedOfLayer(const StepPlan& plan, int64_t layer);
// The adapters of a GEMM of latent attention that all down projections are together.
struct DownAdapter {
  int64_t out = 0;
  const char* part = "";
};
std::vector<DownAdapter> DownAdaptersOf(const ModelSize& model);
// Elements of the embedding on the first stage, and of the head and its norm on the last stage. A tied head
// is a separate weight if the stages differ.
int64_t ShareOfEmbedding(const StepPlan& plan);
int64_t ShareOfHead(const StepPlan& plan);
// Elements of the embedding's copy on the last stage, which multi-token prediction needs
// (StepPlan::copies_embedding()).
int64_t CopyOfEmbedding(const StepPlan& plan);

}  // namespace chakra::generate
