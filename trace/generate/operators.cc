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
    default:
      return "c10::BFloat16";
  }
}

std::string Heads(int64_t batch, int64_t heads, int64_t length, int64_t width) {
  return absl::StrCat("[", batch, ", ", heads, ", ", length, ", ", width, "]");
}

std::string Matrix(int64_t rows, int64_t columns) { return absl::StrCat("[", rows, ", ", columns, "]"); }

// Pairs of a query and a key.
int64_t Pairs(const Operators::Core& c) {
  return c.causal ? c.queries * (c.queries + 1) / 2 : c.queries * c.keys;
}

}  // namespace

Operators::Operators(const TrainingPlan& training)
    : training_(training),
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
  const int64_t size = product_type_ == type_ ? element_bytes_ : 1;
  Operator op;
  if (groups > 1) {
    op = Make("aten::bmm", absl::StrCat("[", groups, ", ", m, ", ", k, "], [", groups, ", ", k, ", ", n, "]"),
              2, product_type_);
  } else {
    op = Make(size == 1 ? "aten::_scaled_mm" : "aten::mm", absl::StrCat(Matrix(m, k), ", ", Matrix(k, n)), 2,
              product_type_);
  }
  op.operations = 2 * groups * m * n * k;
  op.bytes = groups * (size * (m * k + k * n) + element_bytes_ * m * n);
  return op;
}

Operator Operators::PlainProduct(int64_t m, int64_t n, int64_t k) const {
  Operator op = Make("aten::mm", absl::StrCat(Matrix(m, k), ", ", Matrix(k, n)), 2, type_);
  op.operations = 2 * m * n * k;
  op.bytes = element_bytes_ * (m * k + k * n + m * n);
  return op;
}

Operator Operators::Flash(const Core& c) const {
  const std::string q = Heads(c.batch, c.heads, c.queries, c.qk_dim);
  const std::string k = Heads(c.batch, c.kv_heads, c.keys, c.qk_dim);
  const std::string v = Heads(c.batch, c.kv_heads, c.keys, c.v_dim);
  Operator op =
      Make("aten::_scaled_dot_product_flash_attention", absl::StrCat(q, ", ", k, ", ", v), 3, type_);
  op.operations = 2 * c.batch * c.heads * Pairs(c) * (c.qk_dim + c.v_dim);
  op.bytes = c.batch * (element_bytes_ * (c.heads * c.queries + c.kv_heads * c.keys) * (c.qk_dim + c.v_dim) +
                        4 * c.heads * c.queries);
  return op;
}

Operator Operators::FlashBackward(const Core& c) const {
  const std::string q = Heads(c.batch, c.heads, c.queries, c.qk_dim);
  const std::string o = Heads(c.batch, c.heads, c.queries, c.v_dim);
  const std::string k = Heads(c.batch, c.kv_heads, c.keys, c.qk_dim);
  const std::string v = Heads(c.batch, c.kv_heads, c.keys, c.v_dim);
  Operator op = Make("aten::_scaled_dot_product_flash_attention_backward",
                     absl::StrCat(o, ", ", q, ", ", k, ", ", v), 4, type_);
  // Scores again, and the gradients of queries and keys in the width of keys; those of values and of the
  // weights of values in the width of values.
  op.operations = 2 * c.batch * c.heads * Pairs(c) * (3 * c.qk_dim + 2 * c.v_dim);
  const int64_t forward = element_bytes_ * (c.heads * c.queries + c.kv_heads * c.keys) * (c.qk_dim + c.v_dim);
  op.bytes =
      c.batch * (2 * forward + element_bytes_ * c.heads * c.queries * c.v_dim + 4 * c.heads * c.queries);
  return op;
}

std::vector<Operator> Operators::Math(const Core& c) const {
  const int64_t scores = c.batch * c.heads * c.queries * c.keys;
  return {Product(c.queries, c.keys, c.qk_dim, c.batch * c.heads),
          Stream("scaled_masked_softmax_elementwise_kernel", 2 * element_bytes_ * scores, 5 * scores),
          Product(c.queries, c.v_dim, c.keys, c.batch * c.heads)};
}

std::vector<Operator> Operators::MathBackward(const Core& c) const {
  const int64_t scores = c.batch * c.heads * c.queries * c.keys;
  return {
      Product(c.queries, c.keys, c.v_dim, c.batch * c.heads),
      Product(c.keys, c.v_dim, c.queries, c.batch * c.heads),
      Stream("scaled_masked_softmax_backward_elementwise_kernel", 3 * element_bytes_ * scores, 5 * scores),
      Product(c.queries, c.qk_dim, c.keys, c.batch * c.heads),
      Product(c.keys, c.qk_dim, c.queries, c.batch * c.heads)};
}

Operator Operators::Norm(int64_t rows, int64_t width, bool layer_norm) const {
  Operator op =
      Make(layer_norm ? "aten::native_layer_norm" : "aten::_fused_rms_norm", Matrix(rows, width), 1, type_);
  op.operations = 5 * rows * width;
  op.bytes = 2 * element_bytes_ * rows * width;
  return op;
}

Operator Operators::NormBackward(int64_t rows, int64_t width, bool layer_norm) const {
  return Stream(layer_norm ? "layer_norm_backward_kernel" : "rms_norm_backward_kernel",
                3 * element_bytes_ * rows * width, 10 * rows * width);
}

Operator Operators::Add(int64_t rows, int64_t width) const {
  Operator op = Make("aten::add", absl::StrCat(Matrix(rows, width), ", ", Matrix(rows, width)), 2, type_);
  op.operations = rows * width;
  op.bytes = 3 * element_bytes_ * rows * width;
  return op;
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
  // The gradient is read, and the rows of the table's gradient (fp32) that it touches are read and written.
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
  Operator softmax = Make("aten::_log_softmax", Matrix(rows, columns), 1, kFp32);
  softmax.operations = 5 * n;
  softmax.bytes = 8 * n;
  return {Stream("float_copy_elementwise_kernel", (element_bytes_ + 4) * n, n), softmax};
}

std::vector<Operator> Operators::LossBackward(int64_t rows, int64_t columns) const {
  const int64_t n = rows * columns;
  Operator softmax = Make("aten::_log_softmax_backward_data", Matrix(rows, columns), 1, kFp32);
  softmax.operations = 2 * n;
  softmax.bytes = 8 * n;
  return {softmax, Stream("float_copy_elementwise_kernel", (element_bytes_ + 4) * n, n)};
}

Operator Operators::GradientNorm(int64_t elements) const {
  const bool half = training_.dtype == proto::Training::FP16;
  Operator op = Make("aten::_foreach_norm", absl::StrCat("[[", elements, "]]"), 1, half ? type_ : kFp32);
  op.types = absl::StrCat("['GenericList[Tensor(", half ? type_ : kFp32, ")]']");
  op.operations = 2 * elements;
  op.bytes = (half ? 2 : 4) * elements;
  return op;
}

std::vector<Operator> Operators::Update(int64_t elements) const {
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
  if (element_bytes_ == 4) return out;  // the weights themselves
  out.push_back(Stream("multi_tensor_apply_kernel_copy", (4 + element_bytes_) * elements, 0));
  return out;
}

}  // namespace chakra::generate
