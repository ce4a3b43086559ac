// Parameters of a model, and the operations of its training.
#pragma once

#include <cstdint>

#include "trace/generate/sizes.h"

namespace chakra::generate {

// Elements of one layer's weights. Fields that name a product have its matrix, and its bias where there is
// one.
struct LayerParameters {
  int64_t attention = 0;  // products that tensor parallelism splits
  int64_t latent = 0;     // down projections of latent attention and their norms, which every rank has whole
  int64_t mlp = 0;        // of a dense layer
  int64_t router = 0;
  int64_t experts = 0;  // all of them
  int64_t shared = 0;   // shared experts
  int64_t norms = 0;
  int64_t total() const { return attention + latent + mlp + router + experts + shared + norms; }
};
LayerParameters ParametersOfLayer(const ModelSize& model, int64_t layer);

struct ModelParameters {
  int64_t total = 0;
  int64_t active = 0;     // that one token meets
  int64_t embedding = 0;  // tokens, positions, types, patches
  int64_t head = 0;       // 0 where it is the embedding
  int64_t rest = 0;       // last norm, pooler, what mtp adds to its layers
};
// Without what a trainer pads. MTP layers do not count: published totals leave them out.
ModelParameters CountParameters(const ModelSize& model);

// Operations (a multiplication and an addition are two) of training one token, as Megatron-LM's "model
// TFLOP/s" counts them (megatron/training/training.py, num_floating_point_operations): each product three
// times; causal attention at half, and within a window what the window leaves of it; no recomputation, norm,
// elementwise work, router or optimizer; the head once, and once more for each layer of mtp. `seq`: tokens of
// a sequence.
double TrainingFlopsPerToken(const ModelSize& model, int64_t seq);

// Of a step; of a model of tables, TrainingFlopsPerSample(). With frozen weights each of the model's products
// counts twice, for there is no gradient of its weight, and those of adapters three times.
double TrainingFlopsPerToken(const StepPlan& plan);
// Parameters that the step trains: all of the model's, or its adapters'.
int64_t TrainedParameters(const StepPlan& plan);

// Operations beside these that recomputation adds, counted alike (Korthikanti et al., 2022, section 6.3): the
// forward pass of the layers that are recomputed, or that of attention's core.
double RecomputedFlopsPerToken(const StepPlan& plan);

}  // namespace chakra::generate
