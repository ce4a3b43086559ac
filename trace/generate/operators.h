// The computations of a step, with the shapes and types from which the kernel model computes times.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/generate/sizes.h"
#include "trace/generate/step.h"

namespace chakra::generate {

// The kernels of torchao's cast of `elements` to fp8 for both directions without torch.compile, as one
// operator. `element_bytes`: of an element before the cast.
Operator EagerCast(int64_t elements, int64_t element_bytes, bool block_scales);

// Makes operators with the dtypes of a training. A multiplication and an addition count as two operations.
class Operators {
 public:
  explicit Operators(const TrainingPlan& training);

  // A GEMM of [m, k] and [k, n]; in fp8 or nvfp4 if TrainingPlan's dtype is. `groups`: the number of GEMMs of
  // these sizes.
  Operator Product(int64_t m, int64_t n, int64_t k, int64_t groups = 1) const;
  // A GEMM in the dtype of activations, also if other GEMMs are fp8: router, head.
  Operator PlainProduct(int64_t m, int64_t n, int64_t k) const;
  // The gradient of a weight [m, n]. The GEMM adds it to those of earlier micro-batches if the framework does
  // so (TrainingPlan::accumulates()).
  Operator WeightProduct(int64_t m, int64_t n, int64_t k, int64_t groups = 1) const;
  Operator PlainWeightProduct(int64_t m, int64_t n, int64_t k) const;

  struct Core {
    int64_t batch = 1, heads = 0, kv_heads = 0, queries = 0, keys = 0, qk_dim = 0, v_dim = 0;
    // queries and keys are the same tokens, and a query sees only the keys up to its own
    bool causal = false;
    int64_t window = 0;  // with `causal`: a query sees only this many of them, including its own; 0: all
    // with `causal`: a query sees only the keys in its own chunk of this size; 0: no chunks
    int64_t chunk = 0;
    bool capped = false;  // scores: cap * tanh(score / cap)
  };
  // One kernel. Backward: 5 GEMMs, where forward has 2 (Dao et al., "FlashAttention-2", 2023, section 3.1).
  Operator Flash(const Core& core) const;
  Operator FlashBackward(const Core& core) const;
  // The additional kernels of the FlashAttention of 2022 in the backward pass: products of outputs and their
  // gradients before it, the conversion of the queries' gradient from fp32, and the concatenation of three
  // gradients whose inputs were views.
  std::vector<Operator> Flash1Rest(const Core& core) const;
  // Attention by GEMMs and passes over the scores; backward has two GEMMs for each forward one.
  std::vector<Operator> Math(const Core& core) const;
  std::vector<Operator> MathBackward(const Core& core) const;

  // A norm of rows of `width` elements. Backward reads the gradient and the input, and writes the input's
  // gradient. RMSNorm without TrainingPlan::fused_norm: the kernels of PyTorch's operators.
  Operator Norm(int64_t rows, int64_t width, bool layer_norm) const;
  Operator NormBackward(int64_t rows, int64_t width, bool layer_norm) const;
  // The sum of two tensors.
  Operator Add(int64_t rows, int64_t width) const;
  // The addition of the output of attention or of the MLP to its input: with dropout, and with the bias of
  // the last GEMM.
  Operator AddResidual(int64_t rows, int64_t width) const;
  Operator Dropout(int64_t rows, int64_t width) const;
  Operator DropoutBackward(int64_t rows, int64_t width) const;
  // The maximum of a tensor before its cast to fp8 or nvfp4.
  Operator Greatest(int64_t rows, int64_t width) const;
  // The cast for the GEMMs of both directions, if GEMMs are narrow: with a transpose; or, with block scales,
  // along rows and along columns.
  // `gradient`: of a gradient, which nvfp4 may round stochastically.
  Operator CastTranspose(int64_t rows, int64_t width, bool gradient = false) const;
  // The cast for one direction; and the transpose of fp8 data for the other. Not with block scales.
  Operator Cast(int64_t rows, int64_t width) const;
  Operator Transpose(int64_t rows, int64_t width) const;
  // Rotary positions of queries and keys.
  Operator Rotary(int64_t elements, bool backward) const;
  // The activation between the GEMMs of an MLP, gated or not, for rows of `ffn` elements.
  Operator Activation(int64_t rows, int64_t ffn, bool gated, bool backward) const;
  // Limits both halves of the input of a gated activation, in separate kernels.
  Operator Clamp(int64_t rows, int64_t ffn, bool backward) const;
  // The bias of each expert times the rows' shares, by PyTorch's kernels: in fp32, one expert at a time, then
  // concatenated. Backward: the gradients of biases and shares.
  Operator ExpertBias(int64_t rows, int64_t width, int64_t experts, bool backward) const;
  // Adds the gradients of `elements` weights in `tensors` tensors to those of earlier micro-batches.
  Operator Accumulate(int64_t elements, int tensors) const;
  // A fused kernel `name` that moves `bytes` and has `operations`.
  Operator Stream(absl::string_view name, int64_t bytes, int64_t operations) const;
  // A causal convolution of each feature over `kernel` tokens, with an activation (Dao-AILab/causal-conv1d).
  Operator Convolution(int64_t elements, int64_t kernel, bool backward) const;
  // The sum over rows, which is the gradient of a bias.
  Operator SumRows(int64_t rows, int64_t width) const;
  // Reads `rows` rows of a table of `table` rows.
  Operator Lookup(int64_t table, int64_t width, int64_t rows) const;
  Operator LookupBackward(int64_t table, int64_t width, int64_t rows) const;
  Operator Fill(int64_t elements, int64_t element_bytes) const;
  // The loss of rows: conversion to fp32 and softmax; and backward. Megatron-LM's loss of a split vocabulary
  // (megatron/core/tensor_parallel/cross_entropy.py) computes the maximum logit, the sum of exponentials and
  // the target's logit in separate passes. TransformerEngine's (pytorch/triton/cross_entropy.py) reads the
  // logits twice and overwrites them by their gradients.
  std::vector<Operator> Loss(int64_t rows, int64_t columns) const;
  std::vector<Operator> LossBackward(int64_t rows, int64_t columns) const;
  // cap * tanh(x / cap) of each element, and backward: a division, tanh and a multiplication, or one compiled
  // kernel.
  Operator Cap(int64_t rows, int64_t columns, bool backward) const;
  // Kernels of the optimizer step: conversion of gradients to fp32 without the scale of the loss (fp16); sum
  // of squares; clipping by it; update, and the copy of `elements` weights to the dtype of GEMMs.
  std::vector<Operator> Unscale(int64_t elements) const;
  Operator GradientNorm(int64_t elements) const;
  Operator Clip(int64_t elements) const;
  std::vector<Operator> Update(int64_t elements) const;

  int64_t element_bytes() const { return element_bytes_; }
  const TrainingPlan& training() const { return training_; }

 private:
  void Accumulating(int64_t elements, Operator* op) const;
  Operator CastToFour(int64_t elements, bool gradient) const;
  Operator GreatestOfFour(int64_t elements) const;
  std::vector<Operator> Softmax(const Core& core, bool backward) const;
  Operator Make(absl::string_view name, absl::string_view shapes, int tensors, absl::string_view type) const;

  const TrainingPlan training_;
  absl::string_view type_, product_type_;
  int64_t element_bytes_;
};

}  // namespace chakra::generate
