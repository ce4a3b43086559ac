// The computations of a step, with the shapes and types that the kernel model prices them by.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/generate/sizes.h"
#include "trace/generate/step.h"

namespace chakra::generate {

// Makes operators in the types of a training. Operations count multiplications and additions apart.
class Operators {
 public:
  explicit Operators(const TrainingPlan& training);

  // [m, k] times [k, n]; fp8 with TrainingPlan's dtype. `groups` > 1: so many products, of equal sizes.
  Operator Product(int64_t m, int64_t n, int64_t k, int64_t groups = 1) const;
  // The same in the type of activations, where products are fp8: router, head.
  Operator PlainProduct(int64_t m, int64_t n, int64_t k) const;
  // The gradient of a weight [m, n], which is added to those of earlier micro-batches where the
  // framework does so (TrainingPlan::accumulates()).
  Operator WeightProduct(int64_t m, int64_t n, int64_t k, int64_t groups = 1) const;
  Operator PlainWeightProduct(int64_t m, int64_t n, int64_t k) const;

  struct Core {
    int64_t batch = 1, heads = 0, kv_heads = 0, queries = 0, keys = 0, qk_dim = 0, v_dim = 0;
    bool causal = false;  // queries and keys are the same tokens, and each sees those before it
    int64_t window = 0;   // with `causal`: only so many of them, its own with them; 0: all
    int64_t chunk = 0;    // with `causal`: they see those of their own chunk of so many alone; 0: of all
    bool capped = false;  // scores: cap * tanh(score / cap)
  };
  // One kernel. Backward: 5 products where forward has 2 (Dao et al., "FlashAttention-2", 2023, section 3.1).
  Operator Flash(const Core& core) const;
  Operator FlashBackward(const Core& core) const;
  // What FlashAttention of 2022 has beside its backward kernel: the products of outputs and their gradients
  // before, the queries' gradient from fp32, and the join of three gradients whose inputs were views.
  std::vector<Operator> Flash1Rest(const Core& core) const;
  // The same by products and passes over the scores; backward has two products for each.
  std::vector<Operator> Math(const Core& core) const;
  std::vector<Operator> MathBackward(const Core& core) const;

  // Of rows of `width` elements. Backward reads the gradient and the input, writes the input's gradient.
  Operator Norm(int64_t rows, int64_t width, bool layer_norm) const;
  Operator NormBackward(int64_t rows, int64_t width, bool layer_norm) const;
  // The sum of two.
  Operator Add(int64_t rows, int64_t width) const;
  // What a half of a layer adds to its input: with dropout, and the bias of its last product.
  Operator AddResidual(int64_t rows, int64_t width) const;
  Operator Dropout(int64_t rows, int64_t width) const;
  Operator DropoutBackward(int64_t rows, int64_t width) const;
  // The greatest value of what is cast to fp8.
  Operator Greatest(int64_t rows, int64_t width) const;
  // From the type of activations to that of products, for products of both directions, where products are
  // fp8: with a transpose; or, in blocks, along rows and along columns.
  Operator CastTranspose(int64_t rows, int64_t width) const;
  // For one direction; and the transpose of what is fp8 already, for the other. Not of blocks.
  Operator Cast(int64_t rows, int64_t width) const;
  Operator Transpose(int64_t rows, int64_t width) const;
  // Of queries and keys.
  Operator Rotary(int64_t elements, bool backward) const;
  // Between the products of an MLP: gated or not, of rows of `ffn` elements.
  Operator Activation(int64_t rows, int64_t ffn, bool gated, bool backward) const;
  // Both halves of what a gated activation takes, kept in limits by kernels of their own.
  Operator Clamp(int64_t rows, int64_t ffn, bool backward) const;
  // Each expert's bias times the rows' shares, by PyTorch's kernels: in fp32, an expert at a time, put
  // together again. Backward: the gradients of bias and shares.
  Operator ExpertBias(int64_t rows, int64_t width, int64_t experts, bool backward) const;
  // The gradients of `elements` weights in `tensors` tensors, to those of earlier micro-batches.
  Operator Accumulate(int64_t elements, int tensors) const;
  // A fused kernel of `name` that moves `bytes` and does `operations`.
  Operator Stream(absl::string_view name, int64_t bytes, int64_t operations) const;
  // The sum over rows: the gradient of a bias.
  Operator SumRows(int64_t rows, int64_t width) const;
  // `rows` rows of a table of `table` rows.
  Operator Lookup(int64_t table, int64_t width, int64_t rows) const;
  Operator LookupBackward(int64_t table, int64_t width, int64_t rows) const;
  Operator Fill(int64_t elements, int64_t element_bytes) const;
  // Rows of the loss: to fp32, softmax; and back. Megatron-LM's loss of a split vocabulary
  // (megatron/core/tensor_parallel/cross_entropy.py) takes the greatest logit, the sum of exponentials and
  // the target's logit in passes of their own; TransformerEngine's (pytorch/triton/cross_entropy.py) reads
  // the logits twice and writes their gradients in their place.
  std::vector<Operator> Loss(int64_t rows, int64_t columns) const;
  std::vector<Operator> LossBackward(int64_t rows, int64_t columns) const;
  // cap * tanh(x / cap) of each element of the type of activations, and back: a quotient, tanh and a product,
  // or one kernel that is compiled.
  Operator Cap(int64_t rows, int64_t columns, bool backward) const;
  // Gradients in fp32 and without the scale of the loss (fp16); sum of squares; their scale by it; update,
  // and the copy of `elements` weights to the type of products.
  std::vector<Operator> Unscale(int64_t elements) const;
  Operator GradientNorm(int64_t elements) const;
  Operator Clip(int64_t elements) const;
  std::vector<Operator> Update(int64_t elements) const;

  int64_t element_bytes() const { return element_bytes_; }

 private:
  void Accumulating(int64_t elements, Operator* op) const;
  std::vector<Operator> Softmax(const Core& core, bool backward) const;
  Operator Make(absl::string_view name, absl::string_view shapes, int tensors, absl::string_view type) const;

  const TrainingPlan training_;
  absl::string_view type_, product_type_;
  int64_t element_bytes_;
};

}  // namespace chakra::generate
