// Parameters of a model, and operations of its training.
#pragma once

#include <cstdint>

#include "trace/generate/sizes.h"

namespace chakra::generate {

// Elements of one layer's weights.
struct LayerParameters {
  int64_t dense = 0, experts = 0;  // outside of experts, and those of all experts together
  int64_t total() const { return dense + experts; }
};
LayerParameters ParametersOfLayer(const ModelSize& model, int64_t layer);

struct ModelParameters {
  int64_t total = 0;
  int64_t active = 0;     // parameters that one token uses
  int64_t embedding = 0;  // tokens, positions, types, patches
  int64_t head = 0;       // 0 if the head shares the embedding's weights
  int64_t rest = 0;       // last norm, pooler, and the weights that mtp has in addition to its layers
};
// Without padding. MTP layers do not count, because published totals leave them out.
ModelParameters CountParameters(const ModelSize& model);

// Operations (a multiplication and an addition are two) of training one token, as Megatron-LM's "model
// TFLOP/s" counts them (megatron/training/training.py, num_floating_point_operations): each GEMM three times;
// causal attention at half, and within a window only the pairs in the window; the head once, and once more
// for each layer of mtp. Recomputation, norms, elementwise kernels, router and optimizer do not count. `seq`:
// tokens of a sequence.
double TrainingFlopsPerToken(const ModelSize& model, int64_t seq);

// The same for a step; for a recommendation model, TrainingFlopsPerSample(). With frozen weights, each GEMM
// of the model counts twice, because its weight has no gradient, and each GEMM of an adapter three times.
double TrainingFlopsPerToken(const StepPlan& plan);
// Parameters that the step trains: all of the model, or only the adapters.
int64_t TrainedParameters(const StepPlan& plan);

// Operations that recomputation adds, counted in the same way (Korthikanti et al., 2022, section 6.3): the
// forward pass of the recomputed layers, or that of the core of attention.
double RecomputedFlopsPerToken(const StepPlan& plan);

}  // namespace chakra::generate
