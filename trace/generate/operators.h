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

  struct Core {
    int64_t batch = 1, heads = 0, kv_heads = 0, queries = 0, keys = 0, qk_dim = 0, v_dim = 0;
    bool causal = false;  // queries and keys are the same tokens, and each sees those before it
  };
  // One kernel. Backward: 5 products where forward has 2 (Dao et al., "FlashAttention-2", 2023, section 3.1).
  Operator Flash(const Core& core) const;
  Operator FlashBackward(const Core& core) const;
  // The same by products and passes over the scores; backward has two products for each.
  std::vector<Operator> Math(const Core& core) const;
  std::vector<Operator> MathBackward(const Core& core) const;

  // Of rows of `width` elements. Backward reads the gradient and the input, writes the input's gradient.
  Operator Norm(int64_t rows, int64_t width, bool layer_norm) const;
  Operator NormBackward(int64_t rows, int64_t width, bool layer_norm) const;
  // The sum of two.
  Operator Add(int64_t rows, int64_t width) const;
  // A fused kernel of `name` that moves `bytes` and does `operations`.
  Operator Stream(absl::string_view name, int64_t bytes, int64_t operations) const;
  // The sum over rows: the gradient of a bias.
  Operator SumRows(int64_t rows, int64_t width) const;
  // `rows` rows of a table of `table` rows.
  Operator Lookup(int64_t table, int64_t width, int64_t rows) const;
  Operator LookupBackward(int64_t table, int64_t width, int64_t rows) const;
  Operator Fill(int64_t elements, int64_t element_bytes) const;
  // Rows of the loss: to fp32, softmax; and back.
  std::vector<Operator> Loss(int64_t rows, int64_t columns) const;
  std::vector<Operator> LossBackward(int64_t rows, int64_t columns) const;
  // Sum of squares, update, and the copy of `elements` weights to the type of products.
  Operator GradientNorm(int64_t elements) const;
  std::vector<Operator> Update(int64_t elements) const;

  int64_t element_bytes() const { return element_bytes_; }

 private:
  Operator Make(absl::string_view name, absl::string_view shapes, int tensors, absl::string_view type) const;

  const TrainingPlan training_;
  absl::string_view type_, product_type_;
  int64_t element_bytes_;
};

}  // namespace chakra::generate
