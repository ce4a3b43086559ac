#include "replay/compute/operators/operator_work.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "replay/compute/operators/operator_rules.h"

namespace chakra {
namespace {

namespace rules = operator_rules;

struct OperatorEntry {
  const char* name;  // without "aten::"
  rules::Work (*work)(const rules::Call&);
};

// A line for each operator. To add an operator, add a line here, and a rule (operator_rules.cc) if none fits.
constexpr OperatorEntry kOperators[] = {
    // GEMMs.
    {"mm", rules::Mm},
    {"_scaled_mm", rules::Mm},
    {"_int_mm", rules::Mm},
    {"addmm", rules::Addmm},
    {"addmm_", rules::Addmm},
    {"_addmm_activation", rules::Addmm},
    {"bmm", rules::Bmm},
    {"baddbmm", rules::Baddbmm},
    {"baddbmm_", rules::Baddbmm},
    {"linear", rules::Linear},
    {"matmul", rules::Matmul},
    {"mv", rules::Mv},
    {"dot", rules::Matmul},
    // Convolutions.
    {"conv1d", rules::Convolution},
    {"conv2d", rules::Convolution},
    {"conv3d", rules::Convolution},
    {"convolution", rules::Convolution},
    {"_convolution", rules::Convolution},
    {"cudnn_convolution", rules::Convolution},
    {"miopen_convolution", rules::Convolution},
    {"mkldnn_convolution", rules::Convolution},
    {"convolution_backward", rules::ConvolutionBackward},
    // Attention.
    {"scaled_dot_product_attention", rules::Sdpa},
    {"_scaled_dot_product_flash_attention", rules::Sdpa},
    {"_scaled_dot_product_efficient_attention", rules::Sdpa},
    {"_scaled_dot_product_cudnn_attention", rules::Sdpa},
    {"_scaled_dot_product_flash_attention_for_cpu", rules::Sdpa},
    {"_flash_attention_forward", rules::SdpaLengthFirst},
    {"_efficient_attention_forward", rules::SdpaLengthFirst},
    {"_scaled_dot_product_flash_attention_backward", rules::SdpaBackward},
    {"_scaled_dot_product_efficient_attention_backward", rules::SdpaBackward},
    {"_scaled_dot_product_cudnn_attention_backward", rules::SdpaBackward},
    {"_scaled_dot_product_flash_attention_for_cpu_backward", rules::SdpaBackward},
    {"_flash_attention_backward", rules::SdpaLengthFirstBackward},
    {"_efficient_attention_backward", rules::SdpaLengthFirstBackward},
    // Softmax and normalisation.
    {"softmax", rules::Softmax},
    {"_softmax", rules::Softmax},
    {"log_softmax", rules::Softmax},
    {"_log_softmax", rules::Softmax},
    {"_softmax_backward_data", rules::Softmax},
    {"_log_softmax_backward_data", rules::Softmax},
    {"layer_norm", rules::Normalize},
    {"native_layer_norm", rules::Normalize},
    {"native_layer_norm_backward", rules::Normalize},
    {"rms_norm", rules::Normalize},
    {"_fused_rms_norm", rules::Normalize},
    {"native_group_norm", rules::Normalize},
    {"native_group_norm_backward", rules::Normalize},
    {"batch_norm", rules::Normalize},
    {"native_batch_norm", rules::Normalize},
    {"native_batch_norm_backward", rules::Normalize},
    {"cudnn_batch_norm", rules::Normalize},
    {"cudnn_batch_norm_backward", rules::Normalize},
    {"miopen_batch_norm", rules::Normalize},
    {"miopen_batch_norm_backward", rules::Normalize},
    // Elementwise operators.
    {"add", rules::Elementwise},
    {"add_", rules::Elementwise},
    {"sub", rules::Elementwise},
    {"sub_", rules::Elementwise},
    {"rsub", rules::Elementwise},
    {"mul", rules::Elementwise},
    {"mul_", rules::Elementwise},
    {"div", rules::Elementwise},
    {"div_", rules::Elementwise},
    {"neg", rules::Elementwise},
    {"neg_", rules::Elementwise},
    {"abs", rules::Elementwise},
    {"pow", rules::Elementwise},
    {"sqrt", rules::Elementwise},
    {"sqrt_", rules::Elementwise},
    {"rsqrt", rules::Elementwise},
    {"reciprocal", rules::Elementwise},
    {"exp", rules::Elementwise},
    {"exp_", rules::Elementwise},
    {"log", rules::Elementwise},
    {"log_", rules::Elementwise},
    {"cos", rules::Elementwise},
    {"sin", rules::Elementwise},
    {"tanh", rules::Elementwise},
    {"tanh_backward", rules::Elementwise},
    {"sigmoid", rules::Elementwise},
    {"sigmoid_", rules::Elementwise},
    {"sigmoid_backward", rules::Elementwise},
    {"relu", rules::Elementwise},
    {"relu_", rules::Elementwise},
    {"clamp", rules::Elementwise},
    {"clamp_", rules::Elementwise},
    {"clamp_min", rules::Elementwise},
    {"clamp_min_", rules::Elementwise},
    {"threshold_backward", rules::Elementwise},
    {"gelu", rules::Elementwise},
    {"gelu_backward", rules::Elementwise},
    {"silu", rules::Elementwise},
    {"silu_", rules::Elementwise},
    {"silu_backward", rules::Elementwise},
    {"leaky_relu", rules::Elementwise},
    {"leaky_relu_", rules::Elementwise},
    {"hardtanh", rules::Elementwise},
    {"hardtanh_", rules::Elementwise},
    {"where", rules::Elementwise},
    {"masked_fill", rules::Elementwise},
    {"masked_fill_", rules::Elementwise},
    {"addcmul", rules::Elementwise},
    {"addcmul_", rules::Elementwise},
    {"addcdiv", rules::Elementwise},
    {"addcdiv_", rules::Elementwise},
    {"lerp", rules::Elementwise},
    {"lerp_", rules::Elementwise},
    {"maximum", rules::Elementwise},
    {"minimum", rules::Elementwise},
    {"eq", rules::Elementwise},
    {"ne", rules::Elementwise},
    {"lt", rules::Elementwise},
    {"le", rules::Elementwise},
    {"gt", rules::Elementwise},
    {"ge", rules::Elementwise},
    {"bitwise_and", rules::Elementwise},
    {"bitwise_or", rules::Elementwise},
    {"bitwise_not", rules::Elementwise},
    {"logical_and", rules::Elementwise},
    {"logical_not", rules::Elementwise},
    {"isfinite", rules::Elementwise},
    {"native_dropout", rules::Elementwise},
    {"native_dropout_backward", rules::Elementwise},
    {"bernoulli_", rules::Elementwise},
    {"tril", rules::Elementwise},
    {"triu", rules::Elementwise},
    {"cumsum", rules::Elementwise},
    {"flip", rules::Elementwise},
    {"roll", rules::Elementwise},
    {"clone", rules::Elementwise},
    {"contiguous", rules::Elementwise},
    // Copies and fills.
    {"copy_", rules::Copy},
    {"fill_", rules::Fill},
    {"zero_", rules::Fill},
    {"cat", rules::Concatenate},
    {"stack", rules::Concatenate},
    // Tables of rows.
    {"embedding", rules::Embedding},
    {"embedding_bag", rules::Embedding},
    {"_embedding_bag", rules::Embedding},
    {"embedding_dense_backward", rules::EmbeddingBackward},
    {"gather", rules::Gather},
    // Reductions.
    {"sum", rules::Reduce},
    {"mean", rules::Reduce},
    {"max", rules::Reduce},
    {"min", rules::Reduce},
    {"amax", rules::Reduce},
    {"amin", rules::Reduce},
    {"argmax", rules::Reduce},
    {"argmin", rules::Reduce},
    {"prod", rules::Reduce},
    {"var", rules::Reduce},
    {"std", rules::Reduce},
    {"var_mean", rules::Reduce},
    {"norm", rules::Reduce},
    {"linalg_vector_norm", rules::Reduce},
    {"all", rules::Reduce},
    {"any", rules::Reduce},
    {"topk", rules::Reduce},
    {"nll_loss_forward", rules::Reduce},
    {"mse_loss", rules::Reduce},
    {"binary_cross_entropy", rules::Reduce},
    // XLA's operators; trace/import/hlo/facts.h orders their operands.
    {"xla::dot", rules::Bmm},
    {"xla::convolution", rules::Convolution},
    {"xla::attention", rules::SdpaLengthFirst},
    {"xla::attention_backward", rules::SdpaLengthFirstBackward},
    // Optimizer steps over lists of tensors.
    {"_foreach_add", rules::Foreach},
    {"_foreach_add_", rules::Foreach},
    {"_foreach_sub", rules::Foreach},
    {"_foreach_sub_", rules::Foreach},
    {"_foreach_mul", rules::Foreach},
    {"_foreach_mul_", rules::Foreach},
    {"_foreach_div", rules::Foreach},
    {"_foreach_div_", rules::Foreach},
    {"_foreach_addcmul_", rules::Foreach},
    {"_foreach_addcdiv_", rules::Foreach},
    {"_foreach_lerp_", rules::Foreach},
    {"_foreach_sqrt", rules::Foreach},
    {"_foreach_sqrt_", rules::Foreach},
    {"_foreach_neg", rules::Foreach},
    {"_foreach_copy_", rules::Foreach},
    {"_foreach_norm", rules::Reduce},
    {"_foreach_zero_", rules::Fill},
    {"_fused_adam_", rules::FusedAdam},
    {"_fused_adamw_", rules::FusedAdam},
    {"_fused_sgd_", rules::FusedSgd},
};

const OperatorEntry* Find(absl::string_view name) {
  absl::ConsumePrefix(&name, "aten::");
  for (const OperatorEntry& e : kOperators) {
    if (name == e.name) return &e;
  }
  return nullptr;
}

}  // namespace

std::optional<OperatorWork> WorkOfOperator(absl::string_view name, const std::vector<Operand>& operands,
                                           int unknown_element_bytes) {
  const OperatorEntry* entry = Find(name);
  if (entry == nullptr) return std::nullopt;
  const rules::Call call(operands, unknown_element_bytes);
  std::optional<OperatorWork> work = entry->work(call);
  if (!work.has_value() || !(work->operations < 9e18) || !(work->bytes < 9e18)) return std::nullopt;
  const size_t first = call.First();
  if (first < call.size() && call.ElementBytes(first) == 0) work->bytes = 0;
  return work;
}

std::optional<OperatorWork> WorkOfOperator(absl::string_view name, absl::string_view shapes,
                                           absl::string_view dtypes, int unknown_element_bytes) {
  if (Find(name) == nullptr) return std::nullopt;
  const auto operands = ParseOperands(shapes, dtypes);
  if (!operands.ok()) return std::nullopt;
  return WorkOfOperator(name, *operands, unknown_element_bytes);
}

std::optional<OperatorWork> WorkOfKernel(absl::string_view name, absl::string_view op,
                                         absl::string_view shapes, absl::string_view dtypes,
                                         int unknown_element_bytes) {
  if (!op.empty()) return WorkOfOperator(op, shapes, dtypes, unknown_element_bytes);
  if (Find(name) != nullptr) return WorkOfOperator(name, shapes, dtypes, unknown_element_bytes);
  const std::string lower = absl::AsciiStrToLower(name);
  if (!absl::StrContains(lower, "gemm") && !absl::StrContains(lower, "matmul")) return std::nullopt;
  return WorkOfOperator("matmul", shapes, dtypes, unknown_element_bytes);
}

OperatorRule RuleOfOperator(absl::string_view name) {
  const OperatorEntry* entry = Find(name);
  return entry == nullptr ? nullptr : entry->work;
}

std::vector<std::string> KnownOperators() {
  std::vector<std::string> names;
  for (const OperatorEntry& e : kOperators) names.emplace_back(e.name);
  return names;
}

}  // namespace chakra
