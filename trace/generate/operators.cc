#include "trace/generate/operators.h"

#include "absl/strings/str_cat.h"

namespace chakra::generate {
namespace {

constexpr absl::string_view kFp32 = "float";

absl::string_view TypeOf(proto::Training::Dtype dtype, bool product) {
  switch (dtype) {
    case proto::Training::FP16:
      return "c10::Half";
    case proto::Training::FP32:
      return kFp32;
    case proto::Training::FP8:
      return product ? "c10::Float8_e4m3fn" : "c10::BFloat16";
    case proto::Training::NVFP4:
      return product ? "c10::Float4_e2m1fn_x2" : "c10::BFloat16";
    default:
      return "c10::BFloat16";
  }
}

std::string Heads(int64_t batch, int64_t heads, int64_t length, int64_t width) {
  return absl::StrCat("[", batch, ", ", heads, ", ", length, ", ", width, "]");
}

std::string Matrix(int64_t rows, int64_t columns) { return absl::StrCat("[", rows, ", ", columns, "]"); }

// Number of pairs of a query and a key that it sees. With a window of w, the first queries see 1, 2, ...
// keys, and all later ones w.
int64_t Pairs(const Operators::Core& c) {
  if (!c.causal) return c.queries * c.keys;
  const int64_t most = c.window > 0 ? std::min(c.window, c.queries) : c.queries;
  return most * c.queries - most * (most - 1) / 2;
}

// What the names of attention's kernels begin with; "": PyTorch's operator.
absl::string_view FlashPrefix(proto::Training::Attention attention, bool capped) {
  return attention == proto::Training::FLASH1   ? "flash1"
         : attention == proto::Training::FLASH2 ? "flash2"
         : capped                               ? "softcap"
                                                : "";
}

// For FlashAttention, each chunk is a sequence of its own.
Operators::Core InChunks(Operators::Core c) {
  if (c.chunk == 0) return c;
  c.batch *= c.queries / c.chunk;
  c.queries = c.keys = c.chunk;
  c.chunk = 0;
  return c;
}

}  // namespace

Operators::Operators(const TrainingPlan& training)
    : training_(training.With(training.dtype)),
      type_(TypeOf(training.dtype, false)),
      product_type_(TypeOf(training.dtype, true)),
      element_bytes_(training.dtype == proto::Training::FP32 ? 4 : 2) {}

Operator Operators::Make(absl::string_view name, absl::string_view shapes, int tensors,
                         absl::string_view type) const {
  Operator op;
  op.name = std::string(name);
  op.shapes = absl::StrCat("[", shapes, "]");
  op.types = "[";
  for (int i = 0; i < tensors; ++i) absl::StrAppend(&op.types, i > 0 ? ", " : "", "'Tensor(", type, ")'");
  op.types += "]";
  return op;
}

Operator Operators::Product(int64_t m, int64_t n, int64_t k, int64_t groups) const {
  const bool narrow = training_.narrow();
  // An element of PyTorch's type of 4 bits is a pair, and shapes count pairs.
  const int64_t along = training_.dtype == proto::Training::NVFP4 ? (k + 1) / 2 : k;
  Operator op;
  if (groups > 1) {
    op = Make("aten::bmm",
              absl::StrCat("[", groups, ", ", m, ", ", along, "], [", groups, ", ", along, ", ", n, "]"), 2,
              product_type_);
  } else {
    op = Make(narrow ? "aten::_scaled_mm" : "aten::mm",
              absl::StrCat(Matrix(m, along), ", ", Matrix(along, n)), 2, product_type_);
  }
  // Two more kernels for the scales of both operands (TransformerEngine, pytorch/csrc/extensions/gemm.cpp).
  if (narrow && training_.block_scales) op.launches = 3;
  op.operations = 2 * groups * m * n * k;
  const int64_t size = narrow ? 1 : element_bytes_;
  const int64_t operands = along != k ? training_.NarrowBytes(m * k + k * n) : size * (m * k + k * n);
  op.bytes = groups * (operands + element_bytes_ * m * n);
  return op;
}

Operator Operators::PlainProduct(int64_t m, int64_t n, int64_t k) const {
  Operator op = Make("aten::mm", absl::StrCat(Matrix(m, k), ", ", Matrix(k, n)), 2, type_);
  op.operations = 2 * m * n * k;
  op.bytes = element_bytes_ * (m * k + k * n + m * n);
  return op;
}

// Makes a GEMM that of Apex's fused_weight_gradient_mlp_cuda, which reads and writes the accumulated
// gradients.
void Operators::Accumulating(int64_t elements, Operator* op) const {
  const bool narrow = training_.keeps_narrow_gradients();
  op->name = narrow ? "wgrad_gemm_accum_fp16" : "wgrad_gemm_accum_fp32";
  op->bytes += (2 * (narrow ? 2 : 4) - element_bytes_) * elements;
}

Operator Operators::WeightProduct(int64_t m, int64_t n, int64_t k, int64_t groups) const {
  Operator op = Product(m, n, k, groups);
  if (!training_.accumulates()) return op;
  Accumulating(groups * m * n, &op);
  return op;
}

Operator Operators::PlainWeightProduct(int64_t m, int64_t n, int64_t k) const {
  Operator op = PlainProduct(m, n, k);
  if (!training_.accumulates()) return op;
  Accumulating(m * n, &op);
  return op;
}

Operator Operators::Flash(const Core& core) const {
  const Core c = InChunks(core);
  const std::string q = Heads(c.batch, c.heads, c.queries, c.qk_dim);
  const std::string k = Heads(c.batch, c.kv_heads, c.keys, c.qk_dim);
  const std::string v = Heads(c.batch, c.kv_heads, c.keys, c.v_dim);
  const absl::string_view prefix = FlashPrefix(training_.attention, c.capped);
  Operator op = Make(prefix.empty() ? "aten::_scaled_dot_product_flash_attention"
                                    : absl::StrCat(prefix, "_fwd_heads_first_attention_kernel"),
                     absl::StrCat(q, ", ", k, ", ", v), 3, type_);
  op.operations = 2 * c.batch * c.heads * Pairs(c) * (c.qk_dim + c.v_dim);
  op.bytes = c.batch * (element_bytes_ * (c.heads * c.queries + c.kv_heads * c.keys) * (c.qk_dim + c.v_dim) +
                        4 * c.heads * c.queries);
  return op;
}

Operator Operators::FlashBackward(const Core& core) const {
  const Core c = InChunks(core);
  const std::string q = Heads(c.batch, c.heads, c.queries, c.qk_dim);
  const std::string o = Heads(c.batch, c.heads, c.queries, c.v_dim);
  const std::string k = Heads(c.batch, c.kv_heads, c.keys, c.qk_dim);
  const std::string v = Heads(c.batch, c.kv_heads, c.keys, c.v_dim);
  const absl::string_view prefix = FlashPrefix(training_.attention, c.capped);
  Operator op = Make(prefix.empty() ? "aten::_scaled_dot_product_flash_attention_backward"
                                    : absl::StrCat(prefix, "_bwd_heads_first_attention_kernel"),
                     absl::StrCat(o, ", ", q, ", ", k, ", ", v), 4, type_);
  // The scores again and the gradients of queries and keys have the width of keys; the gradients of values
  // and of the weights of values have the width of values.
  op.operations = 2 * c.batch * c.heads * Pairs(c) * (3 * c.qk_dim + 2 * c.v_dim);
  const int64_t forward = element_bytes_ * (c.heads * c.queries + c.kv_heads * c.keys) * (c.qk_dim + c.v_dim);
  op.bytes =
      c.batch * (2 * forward + element_bytes_ * c.heads * c.queries * c.v_dim + 4 * c.heads * c.queries);
  return op;
}

// Dao-AILab/flash-attention, flash_attn_triton.py (_bwd_preprocess_do_o_dot, dq_accum), and the chunks of one
// GEMM's output (mosaicml/llm-foundry, models/layers/attention.py).
std::vector<Operator> Operators::Flash1Rest(const Core& c) const {
  if (training_.attention != proto::Training::FLASH1) return {};
  const int64_t queries = c.batch * c.heads * c.queries, keys = c.batch * c.kv_heads * c.keys;
  const int64_t all = queries * c.qk_dim + keys * (c.qk_dim + c.v_dim);
  return {Stream("dot_do_o_kernel", 2 * element_bytes_ * queries * c.v_dim, 2 * queries * c.v_dim),
          Stream("float_copy_elementwise_kernel", (4 + element_bytes_) * queries * c.qk_dim, 0),
          Stream("catarraybatchedcopy_kernel", 2 * element_bytes_ * all, 0)};
}

// Megatron-LM's fused kernel masks, scales and computes the softmax in one pass over the scores. It needs at
// most 2048 keys, and a number of heads times sequences that is a multiple of 4
// (megatron/model/fused_softmax.py, 2021 to 2023). Otherwise PyTorch's kernels cast to fp32, scale, mask,
// compute the softmax and cast back.
std::vector<Operator> Operators::Softmax(const Core& c, bool backward) const {
  const int64_t scores = c.batch * c.heads * c.queries * c.keys, size = element_bytes_;
  if (c.keys <= 2048 && c.batch * c.heads % 4 == 0) {
    return {Stream(backward ? "scaled_masked_softmax_backward_elementwise_kernel"
                            : "scaled_masked_softmax_elementwise_kernel",
                   (backward ? 3 : 2) * size * scores, 5 * scores)};
  }
  Operator softmax = Stream(backward ? "softmax_backward_kernel" : "softmax_kernel",
                            (backward ? 12 : 8) * scores, 5 * scores);
  const Operator cast = Stream("float_copy_elementwise_kernel", (4 + size) * scores, 0);
  const Operator scale = Stream("scale_elementwise_kernel", 8 * scores, scores);
  const Operator mask = Stream("masked_fill_elementwise_kernel", 9 * scores, 0);
  if (backward) return {cast, softmax, mask, scale, cast};
  return {cast, scale, mask, softmax, cast};
}

std::vector<Operator> Operators::Math(const Core& c) const {
  const int64_t scores = c.batch * c.heads * c.queries, out = c.batch * c.heads * c.queries * c.v_dim;
  std::vector<Operator> ops = {Product(c.queries, c.keys, c.qk_dim, c.batch * c.heads)};
  if (c.capped) ops.push_back(Cap(scores, c.keys, false));
  for (Operator& op : Softmax(c, false)) ops.push_back(std::move(op));
  if (training_.dropout) ops.push_back(Dropout(scores, c.keys));
  ops.push_back(Product(c.queries, c.v_dim, c.keys, c.batch * c.heads));
  // Puts the heads of a token next to each other.
  ops.push_back(Stream("transpose_kernel", 2 * element_bytes_ * out, 0));
  return ops;
}

std::vector<Operator> Operators::MathBackward(const Core& c) const {
  const int64_t scores = c.batch * c.heads * c.queries, out = c.batch * c.heads * c.queries * c.v_dim;
  std::vector<Operator> ops = {Stream("transpose_kernel", 2 * element_bytes_ * out, 0),
                               Product(c.queries, c.keys, c.v_dim, c.batch * c.heads),
                               Product(c.keys, c.v_dim, c.queries, c.batch * c.heads)};
  if (training_.dropout) ops.push_back(DropoutBackward(scores, c.keys));
  for (Operator& op : Softmax(c, true)) ops.push_back(std::move(op));
  if (c.capped) ops.push_back(Cap(scores, c.keys, true));
  ops.push_back(Product(c.queries, c.qk_dim, c.keys, c.batch * c.heads));
  ops.push_back(Product(c.keys, c.qk_dim, c.queries, c.batch * c.heads));
  // Concatenates the gradients of queries, keys and values, which were views of one tensor.
  const int64_t all = c.batch * (c.heads * c.queries + c.kv_heads * c.keys) * (c.qk_dim + c.v_dim);
  ops.push_back(Stream("catarraybatchedcopy_kernel", 2 * element_bytes_ * all, 0));
  return ops;
}

// Without fusion, as HuggingFace's LlamaRMSNorm and PyTorch's rms_norm before 2.9 have it: a cast to fp32,
// the square, its mean, two kernels for the rows, times the row's factor, a cast back, times the weight. A
// capture of Qwen1.5-0.5B on H100 (AMD-AGI/TraceLens) has these eight for each norm.
Operator Operators::Norm(int64_t rows, int64_t width, bool layer_norm) const {
  if (!layer_norm && !training_.fused_norm) {
    Operator op =
        Stream("rms_by_parts_elementwise_kernel", (28 + 4 * element_bytes_) * rows * width, 5 * rows * width);
    op.launches = 8;
    return op;
  }
  Operator op =
      Make(layer_norm ? "aten::native_layer_norm" : "aten::_fused_rms_norm", Matrix(rows, width), 1, type_);
  op.operations = 5 * rows * width;
  op.bytes = 2 * element_bytes_ * rows * width;
  return op;
}

// Without fusion, by PyTorch's derivatives of the eight kernels (tools/autograd/derivatives.yaml). The
// weight: the product with the gradient, that of the input and its sum; a cast to fp32; of the row's factor
// two products and a sum; of the square three kernels; the sum of both gradients; a cast back.
Operator Operators::NormBackward(int64_t rows, int64_t width, bool layer_norm) const {
  if (!layer_norm && !training_.fused_norm) {
    Operator op = Stream("rms_by_parts_backward_elementwise_kernel", (68 + 8 * element_bytes_) * rows * width,
                         10 * rows * width);
    op.launches = 16;
    return op;
  }
  if (!layer_norm)
    return Stream("rms_norm_backward_kernel", 3 * element_bytes_ * rows * width, 10 * rows * width);
  // PyTorch's and Apex's kernels read gradient and input again for the gradients of weight and bias, whose
  // partial sums another kernel adds up.
  Operator op = Stream("layer_norm_backward_kernel", 5 * element_bytes_ * rows * width, 10 * rows * width);
  op.launches = 3;
  return op;
}

Operator Operators::Add(int64_t rows, int64_t width) const {
  Operator op = Make("aten::add", absl::StrCat(Matrix(rows, width), ", ", Matrix(rows, width)), 2, type_);
  op.operations = rows * width;
  op.bytes = 3 * element_bytes_ * rows * width;
  return op;
}

Operator Operators::AddResidual(int64_t rows, int64_t width) const {
  if (!training_.dropout) return Add(rows, width);
  return Stream("bias_dropout_add_elementwise_kernel", (3 * element_bytes_ + 1) * rows * width,
                4 * rows * width);
}

Operator Operators::Dropout(int64_t rows, int64_t width) const {
  return Stream("fused_dropout_elementwise_kernel", (2 * element_bytes_ + 1) * rows * width,
                4 * rows * width);
}

Operator Operators::DropoutBackward(int64_t rows, int64_t width) const {
  return Stream("masked_scale_elementwise_kernel", (2 * element_bytes_ + 1) * rows * width, rows * width);
}

// torchao, float8_utils.py: absolute values, their maximum, and four kernels for the scale.
Operator Operators::Greatest(int64_t rows, int64_t width) const {
  if (training_.casts_eagerly()) {
    Operator op = Stream("abs_amax_elementwise_kernel", 3 * element_bytes_ * rows * width, 2 * rows * width);
    op.eager = true;
    op.launches = 6;
    return op;
  }
  const int64_t n = rows * width;
  if (training_.dtype == proto::Training::NVFP4) return GreatestOfFour(n);
  return Stream("amax_reduce_kernel", element_bytes_ * n, n);
}

// The block scales, one byte for 32 elements in each direction, are written, and then read and written again
// in the order that GEMMs need (TransformerEngine, common/cast/mxfp8, common/swizzle).
Operator Operators::CastTranspose(int64_t rows, int64_t width, bool gradient) const {
  const int64_t n = rows * width;
  if (training_.dtype == proto::Training::NVFP4) return CastToFour(n, gradient);
  if (training_.casts_eagerly()) return EagerCast(n, element_bytes_, training_.block_scales);
  // torchao casts along columns in a kernel of its own, which reads the tensor again (mx_linear.py).
  if (training_.block_scales && training_.framework != proto::Training::MEGATRON) {
    Operator op = Stream("mxfp8_quantize_kernel", 2 * (element_bytes_ + 1) * n + 3 * 2 * n / 32, n);
    op.launches = 2;
    return op;
  }
  if (training_.block_scales)
    return Stream("mxfp8_quantize_kernel", (element_bytes_ + 2) * n + 3 * 2 * n / 32, n);
  return Stream("cast_transpose_elementwise_kernel", (element_bytes_ + 2) * n, n);
}

Operator Operators::Cast(int64_t rows, int64_t width) const {
  return Stream("cast_elementwise_kernel", (element_bytes_ + 1) * rows * width, rows * width);
}

Operator Operators::Transpose(int64_t rows, int64_t width) const {
  return Stream("fp8_transpose_kernel", 2 * rows * width, 0);
}

// Full passes: to fp32, times the scale, clamped, to fp8. With block scales also absolute values and their
// maximum before, 18 kernels for the scales, one for each 32 elements, and a fused kernel for the cast along
// columns (mx_tensor.py, to_mx; mx_linear.py); with one scale, a copy of the transpose.
Operator EagerCast(int64_t elements, int64_t element_bytes, bool block_scales) {
  const int64_t cast = element_bytes + 4 + 8 + 8 + 4 + 1;
  const int64_t scales = 3 * element_bytes + 18 * 8 / 32 + element_bytes + 1;
  Operator op;
  op.name = "fp8_by_parts_elementwise_kernel";
  op.bytes = (cast + (block_scales ? scales : 2)) * elements;
  op.operations = 4 * elements;
  op.eager = true;
  op.launches = block_scales ? 30 : 5;
  return op;
}

// Without fusion: conversion to fp32, a multiplication of complex numbers, and conversion back (torchtitan's
// apply_rotary_emb).
Operator Operators::Rotary(int64_t elements, bool backward) const {
  const int64_t bytes = training_.compiled ? 2 * element_bytes_ : 2 * (element_bytes_ + 4) + 8;
  Operator op = Stream(backward ? "rotary_backward_kernel" : "rotary_kernel", bytes * elements, 3 * elements);
  op.launches = training_.compiled ? 1 : 6;
  return op;
}

Operator Operators::Activation(int64_t rows, int64_t ffn, bool gated, bool backward) const {
  const int64_t n = rows * ffn, size = element_bytes_;
  if (!gated) {
    return Stream(backward ? "bias_gelu_backward_kernel" : "bias_gelu_kernel", (backward ? 3 : 2) * size * n,
                  (backward ? 16 : 8) * n);
  }
  // Without fusion: silu and a multiplication; backward two multiplications, silu's, and the concatenation of
  // two gradients.
  const int64_t passes = backward ? (training_.compiled ? 5 : 9) : (training_.compiled ? 3 : 5);
  Operator op = Stream(backward ? "swiglu_backward_kernel" : "swiglu_kernel", passes * size * n,
                       (backward ? 8 : 5) * n);
  op.launches = training_.compiled ? 1 : backward ? 3 : 2;
  return op;
}

// A clamp of each half, and their concatenation; backward two masks and the concatenation of two gradients
// (Megatron-LM, core/fusions/fused_bias_geglu.py, weighted_bias_quick_geglu_impl).
Operator Operators::Clamp(int64_t rows, int64_t ffn, bool backward) const {
  Operator op = Stream(backward ? "clamp_backward_elementwise_kernel" : "clamp_elementwise_kernel",
                       (backward ? 5 : 4) * element_bytes_ * rows * 2 * ffn, rows * 2 * ffn);
  op.launches = 3;
  return op;
}

// Megatron-LM, core/transformer/moe/experts.py, TEGroupedMLP._apply_bias. Forward, for each element: bias
// times share is written, the addition reads it and the row and writes the sum, the concatenation reads and
// writes it in fp32, and a cast to the dtype of activations follows. Backward: the cast, the gradient of the
// row and its concatenation, and for bias and shares one multiplication in fp32 each, whose result is summed.
Operator Operators::ExpertBias(int64_t rows, int64_t width, int64_t experts, bool backward) const {
  const int64_t casts = 2 * (4 + element_bytes_), e = element_bytes_;
  const int64_t bytes = backward ? casts + 2 * e + 2 * (8 + 4) : casts + 4 + 4 + 8;
  Operator op =
      Stream(backward ? "expert_bias_backward_elementwise_kernel" : "expert_bias_elementwise_kernel",
             bytes * rows * width, 2 * rows * width);
  op.launches = static_cast<int>((backward ? 6 : 2) * experts + 2);
  return op;
}

Operator Operators::Accumulate(int64_t elements, int tensors) const {
  const bool narrow = training_.dtype == proto::Training::FP16 || training_.keeps_narrow_gradients();
  const int64_t sum = narrow ? 2 : 4;
  Operator op =
      Stream("accumulate_gradients_elementwise_kernel", (element_bytes_ + 2 * sum) * elements, elements);
  op.launches = tensors;
  return op;
}

// Backward reads the input and the gradient, and computes the gradients of the input and of the weights.
Operator Operators::Convolution(int64_t elements, int64_t kernel, bool backward) const {
  return Stream(backward ? "causal_conv1d_bwd_kernel" : "causal_conv1d_fwd_kernel",
                (backward ? 3 : 2) * element_bytes_ * elements, (backward ? 4 : 2) * kernel * elements);
}

Operator Operators::Stream(absl::string_view name, int64_t bytes, int64_t operations) const {
  Operator op;
  op.name = std::string(name);
  op.operations = operations;
  op.bytes = bytes;
  return op;
}

Operator Operators::SumRows(int64_t rows, int64_t width) const {
  Operator op = Make("aten::sum", Matrix(rows, width), 1, type_);
  op.operations = rows * width;
  op.bytes = element_bytes_ * (rows + 1) * width;
  return op;
}

Operator Operators::Lookup(int64_t table, int64_t width, int64_t rows) const {
  Operator op = Make("aten::embedding", absl::StrCat(Matrix(table, width), ", [", rows, "]"), 1, type_);
  op.types = absl::StrCat("['Tensor(", type_, ")', 'Tensor(long int)']");
  op.bytes = 2 * element_bytes_ * rows * width + 8 * rows;
  return op;
}

Operator Operators::LookupBackward(int64_t table, int64_t width, int64_t rows) const {
  Operator op =
      Make("aten::embedding_dense_backward", absl::StrCat(Matrix(rows, width), ", [", rows, "]"), 1, type_);
  op.types = absl::StrCat("['Tensor(", type_, ")', 'Tensor(long int)']");
  op.operations = rows * width;
  // The gradient is read, and the touched rows of the table's gradient (fp32) are read and written.
  op.bytes = (element_bytes_ + 8) * (rows < table ? rows : table) * width;
  return op;
}

Operator Operators::Fill(int64_t elements, int64_t element_bytes) const {
  Operator op = Make("aten::zero_", absl::StrCat("[", elements, "]"), 1, element_bytes == 4 ? kFp32 : type_);
  op.bytes = element_bytes * elements;
  return op;
}

std::vector<Operator> Operators::Loss(int64_t rows, int64_t columns) const {
  const int64_t n = rows * columns;
  if (training_.fused_loss) {
    return {Stream("online_softmax_kernel", element_bytes_ * n, 5 * n),
            Stream("cross_entropy_kernel", 2 * element_bytes_ * n, 5 * n)};
  }
  const Operator cast = Stream("float_copy_elementwise_kernel", (element_bytes_ + 4) * n, n);
  if (training_.framework == proto::Training::MEGATRON) {
    const Operator most = Stream("max_reduce_kernel", 4 * n, n), sum = Stream("sum_reduce_kernel", 4 * n, n);
    const Operator less = Stream("sub_elementwise_kernel", 8 * n, n),
                   power = Stream("exp_elementwise_kernel", 8 * n, n),
                   divided = Stream("div_elementwise_kernel", 8 * n, n);
    return {cast, most, less, power, sum, divided};
  }
  Operator softmax = Make("aten::_log_softmax", Matrix(rows, columns), 1, kFp32);
  softmax.operations = 5 * n;
  softmax.bytes = 8 * n;
  return {cast, softmax};
}

std::vector<Operator> Operators::LossBackward(int64_t rows, int64_t columns) const {
  const int64_t n = rows * columns;
  if (training_.fused_loss) return {Stream("mul_elementwise_kernel", 2 * element_bytes_ * n, n)};
  const Operator cast = Stream("float_copy_elementwise_kernel", (element_bytes_ + 4) * n, n);
  if (training_.framework == proto::Training::MEGATRON)
    return {Stream("mul_elementwise_kernel", 8 * n, n), cast};
  Operator softmax = Make("aten::_log_softmax_backward_data", Matrix(rows, columns), 1, kFp32);
  softmax.operations = 2 * n;
  softmax.bytes = 12 * n;
  if (training_.compiled) return {softmax, cast};
  // nll_loss_backward fills the gradient of the logarithms with zeros, and sets one in each row.
  return {Stream("fill_elementwise_kernel", 4 * n, 0), softmax, cast};
}

// Backward, tanh also reads its output (aten::tanh_backward).
Operator Operators::Cap(int64_t rows, int64_t columns, bool backward) const {
  const int64_t n = rows * columns;
  const int64_t passes = training_.compiled ? (backward ? 3 : 2) : (backward ? 7 : 6);
  Operator op = Stream(backward ? "tanh_backward_elementwise_kernel" : "tanh_elementwise_kernel",
                       passes * element_bytes_ * n, (backward ? 4 : 3) * n);
  op.launches = training_.compiled ? 1 : 3;
  return op;
}

std::vector<Operator> Operators::Unscale(int64_t elements) const {
  if (training_.keeps_narrow_gradients())
    return {Stream("multi_tensor_apply_kernel_copy", (2 + 4) * elements, 0)};
  if (training_.dtype != proto::Training::FP16) return {};
  return {Stream("multi_tensor_apply_kernel_copy", (2 + 4) * elements, 0),
          Stream("multi_tensor_apply_kernel_scale", 8 * elements, elements)};
}

Operator Operators::Clip(int64_t elements) const {
  return Stream("multi_tensor_apply_kernel_scale", 8 * elements, elements);
}

Operator Operators::GradientNorm(int64_t elements) const {
  Operator op = Make("aten::_foreach_norm", absl::StrCat("[[", elements, "]]"), 1, kFp32);
  op.types = absl::StrCat("['GenericList[Tensor(", kFp32, ")]']");
  op.operations = 2 * elements;
  op.bytes = 4 * elements;
  return op;
}

std::vector<Operator> Operators::Update(int64_t elements) const {
  if (training_.optimizer == proto::Training::ADAGRAD) {
    std::vector<Operator> adagrad = {
        Stream("multi_tensor_apply_kernel_adagrad", 20 * elements, 6 * elements)};
    if (element_bytes_ < 4)
      adagrad.push_back(Stream("multi_tensor_apply_kernel_copy", (4 + element_bytes_) * elements, 0));
    return adagrad;
  }
  const bool sgd = training_.optimizer == proto::Training::SGD;
  const char* name = sgd                                            ? "aten::_fused_sgd_"
                     : training_.optimizer == proto::Training::ADAM ? "aten::_fused_adam_"
                                                                    : "aten::_fused_adamw_";
  const int lists = sgd ? 3 : 4;  // weights, gradients, one or two averages; all fp32
  Operator step;
  step.name = name;
  step.shapes = "[";
  step.types = "[";
  for (int i = 0; i < lists; ++i) {
    absl::StrAppend(&step.shapes, i > 0 ? ", " : "", "[[", elements, "]]");
    absl::StrAppend(&step.types, i > 0 ? ", " : "", "'GenericList[Tensor(float)]'");
  }
  step.shapes += "]";
  step.types += "]";
  step.operations = (sgd ? 4 : 12) * elements;
  step.bytes = 4 * (2 * lists - 1) * elements;
  std::vector<Operator> out = {step};
  if (element_bytes_ == 4) return out;  // GEMMs use the fp32 weights themselves
  out.push_back(Stream("multi_tensor_apply_kernel_copy", (4 + element_bytes_) * elements, 0));
  return out;
}

}  // namespace chakra::generate
