#include "replay/compute/model/kernel_names.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace chakra {
namespace {

using F = KernelFamily;

struct NamePattern {
  const char* pattern;  // lower case; pieces that "*" separates must be in the name, in this order
  KernelFamily family;
};

// The first pattern that fits wins. Helpers of GEMMs are therefore before GEMMs, and names of functors before
// those of the templates that apply them. To add a kernel, add a line.
constexpr NamePattern kPatterns[] = {
    // XLA's instructions. The text after the kind is the program's own name.
    {"xla::loop", F::kElementwise},
    {"xla::reduce", F::kReduction},
    {"xla::copy", F::kCopy},
    {"xla::transpose", F::kTranspose},
    {"xla::gather", F::kGather},
    {"xla::scatter", F::kGather},
    {"xla::sort", F::kScan},
    {"xla::custom-call", F::kElementwise},
    // Copies by the driver or the runtime.
    {"memcpy htod", F::kHostCopy},
    {"memcpy dtoh", F::kHostCopy},
    {"memcpy*host", F::kHostCopy},
    {"copyhosttodevice", F::kHostCopy},
    {"copydevicetohost", F::kHostCopy},
    {"memcpy", F::kCopy},
    {"memset", F::kCopy},
    {"rocclr_fillbuffer", F::kCopy},
    {"rocclr_copybuffer", F::kCopy},
    {"copydevicetodevice", F::kCopy},
    // Streaming helpers of GEMMs, convolutions and attention.
    {"splitkreduce", F::kReduction},
    {"reducesplitk", F::kReduction},
    {"splitk_reduce", F::kReduction},
    {"splitkv_combine", F::kReduction},
    {"reduce_wgrad", F::kReduction},
    {"reduce_segments", F::kReduction},
    {"postgsu", F::kReduction},
    {"dot_do_o", F::kReduction},
    {"bwd_preprocess", F::kReduction},
    {"convert_dq", F::kCopy},
    {"convert_dkv", F::kCopy},
    {"reshape_and_cache", F::kCopy},
    {"merge_attn_states", F::kElementwise},
    {"offsetskernel", F::kElementwise},
    {"scalepackedtensor", F::kElementwise},
    {"epilogue::impl::globalkernel", F::kElementwise},
    {"winogradtileskernel", F::kTranspose},
    {"winogradforwarddata", F::kTranspose},
    {"winogradforwardfilter", F::kTranspose},
    {"winogradforwardoutput", F::kTranspose},
    {"winogradwgraddata", F::kTranspose},
    {"winogradwgraddelta", F::kTranspose},
    {"winogradwgradoutput", F::kTranspose},
    {"fft2d", F::kTranspose},
    {"flip_filter", F::kTranspose},
    {"nchwtonhwc", F::kTranspose},
    {"nhwctonchw", F::kTranspose},
    {"nchw2cnhw", F::kTranspose},
    {"cnhw2nchw", F::kTranspose},
    {"batched_transpose", F::kTranspose},
    {"cast_transpose", F::kTranspose},
    {"fp8_transpose", F::kTranspose},
    {"mxfp8_quantize", F::kNorm},
    {"nvfp4_quantize", F::kNorm},
    {"padding_kernel", F::kCopy},
    {"im2col", F::kTranspose},
    {"col2im", F::kTranspose},
    {"subtensorop", F::kElementwise},
    // Experts.
    {"moe::dev::routing", F::kScan},
    {"moe::dev::finalize", F::kReduction},
    {"finalizemoerouting", F::kReduction},
    {"moe_align_block_size", F::kScan},
    {"moesorting", F::kScan},
    {"moe_sum", F::kReduction},
    {"expandinputrows", F::kGather},
    {"topkgating", F::kScan},
    {"fused_moe", F::kMoe},
    {"moe_gemm", F::kMoe},
    {"moe_ck", F::kMoe},
    {"matmul_ogs", F::kMoe},
    {"grouped_gemm", F::kMoe},
    {"groupedgemm", F::kMoe},
    {"groupproblemshape", F::kMoe},
    {"bmm_mxe", F::kMoe},
    {"bmm_e4m3", F::kMoe},
    {"bmm_e2m1", F::kMoe},
    {"bmm_bfloat16", F::kMoe},
    // Attention: FlashAttention, PyTorch's copies, cuDNN, TransformerEngine, CK, AOTriton, vLLM, FlashInfer.
    {"flash1_", F::kAttention},
    {"flash2_", F::kAttention},
    {"flash_fwd", F::kAttention},
    {"flash_bwd", F::kAttention},
    {"flashattn", F::kAttention},
    {"flash_attn", F::kAttention},
    {"fmha", F::kAttention},
    {"attn_fwd", F::kAttention},
    {"attn_bwd", F::kAttention},
    {"bwd_kernel_dk_dv", F::kAttention},
    {"bwd_kernel_dq", F::kAttention},
    {"bwd_kernel_fuse", F::kAttention},
    {"mha_fwd", F::kAttention},
    {"mha_bwd", F::kAttention},
    {"sdpa", F::kAttention},
    {"unified_attention", F::kAttention},
    {"paged_attention", F::kAttention},
    {"attention_kernel", F::kAttention},
    {"batchprefillwith", F::kAttention},
    {"batchdecodewith", F::kAttention},
    {"flash_mla", F::kAttention},
    {"flex_attention", F::kAttention},
    // Optimizers, and norms of lists of tensors.
    {"multi_tensor_apply*lpnorm", F::kReduction},
    {"multi_tensor_apply*l2norm", F::kReduction},
    {"lpnorm_cleanup", F::kReduction},
    {"multi_tensor_apply", F::kOptimizer},
    {"triton_for_", F::kOptimizer},
    {"fusedadam", F::kOptimizer},
    {"adam_kernel", F::kOptimizer},
    {"lamb_kernel", F::kOptimizer},
    // Tables of rows (embeddings, indices).
    {"split_embedding", F::kGather},
    {"embedding", F::kGather},
    {"permute_pooled_embs", F::kGather},
    {"recat_", F::kGather},
    {"permute_indices", F::kGather},
    {"permute_2d", F::kGather},
    {"permute_1d", F::kGather},
    {"linearize_index", F::kGather},
    {"bounds_check", F::kGather},
    {"offsets_range", F::kElementwise},
    {"indexselect", F::kGather},
    {"indexfunc", F::kGather},
    {"index_elementwise", F::kGather},
    {"index_kernel", F::kGather},
    {"index_put", F::kGather},
    {"indexing_backward", F::kGather},
    {"gather", F::kGather},
    {"scatter", F::kGather},
    {"compute_grad_weight", F::kGather},
    {"compute_num_of_partial_segments", F::kGather},
    {"krn_partial", F::kGather},
    {"bitmatrix", F::kReduction},
    {"combined_routing", F::kScan},
    // Sorts, scans, top-k.
    {"radixsort", F::kScan},
    {"radix_sort", F::kScan},
    {"mergesort", F::kScan},
    {"merge_sort", F::kScan},
    {"block_merge", F::kScan},
    {"bitonicsort", F::kScan},
    {"sort", F::kScan},
    {"devicescan", F::kScan},
    {"tensor_kernel_scan", F::kScan},
    {"_scan_", F::kScan},
    {"lookback_scan", F::kScan},
    {"cumsum", F::kScan},
    {"topk", F::kScan},
    {"devicereducebykey", F::kScan},
    {"devicecompact", F::kScan},
    {"deviceselect", F::kScan},
    {"partition_kernel", F::kScan},
    {"devicerunlength", F::kScan},
    {"runlengthencode", F::kScan},
    {"unique", F::kScan},
    {"histogram", F::kScan},
    {"searchsorted", F::kScan},
    {"init_lookback", F::kScan},
    {"sampling", F::kScan},
    {"rocprim", F::kScan},
    // Rows that stay on chip between two passes.
    {"softmax", F::kNorm},
    {"layer_norm", F::kNorm},
    {"layernorm", F::kNorm},
    {"rms_norm", F::kNorm},
    {"rmsnorm", F::kNorm},
    {"group_norm", F::kNorm},
    {"groupnorm", F::kNorm},
    {"rowwisemoments", F::kNorm},
    {"batch_norm", F::kNorm},
    {"batchnorm", F::kNorm},
    {"cudnn::bn_", F::kNorm},
    {"bn_fw_", F::kNorm},
    {"bn_bw_", F::kNorm},
    {"gammabeta", F::kNorm},
    {"welford", F::kNorm},
    {"triton_red*_norm", F::kNorm},
    {"triton_per", F::kNorm},
    {"ln_fwd", F::kNorm},
    {"ln_bwd", F::kNorm},
    {"ln_parallel_residual", F::kNorm},
    // Convolutions, which are implicit GEMMs.
    {"implicit_gemm", F::kGemm},
    {"implicitgemm", F::kGemm},
    {"implicit_convolve", F::kGemm},
    {"convolve_", F::kGemm},
    {"scudnn", F::kGemm},
    {"_fprop", F::kGemm},
    {"dgrad", F::kGemm},
    {"wgrad", F::kGemm},
    {"igemm_", F::kGemm},
    {"grouped_conv", F::kGemm},
    {"conv2d", F::kGemm},
    {"conv_depthwise", F::kGemm},
    {"naive_conv", F::kGemm},
    {"miopensp3asmconv", F::kGemm},
    {"miopengcnasmconv", F::kGemm},
    {"winograd", F::kGemm},
    {"conv1x1", F::kGemm},
    // GEMMs.
    {"dot_kernel", F::kReduction},
    {"gemmk1_kernel", F::kGemm},
    {"gemv", F::kGemm},
    {"gemm", F::kGemm},
    {"cijk_", F::kGemm},
    {"nvjet", F::kGemm},
    {"xmma", F::kGemm},
    {"triton_tem_", F::kGemm},
    {"triton_mm", F::kGemm},
    {"matmul", F::kGemm},
    {"wvsplitk", F::kGemm},
    {"llmm1", F::kGemm},
    {"dot_based_gemm", F::kGemm},
    {"cutlass", F::kGemm},
    {"fused_dense", F::kGemm},
    // Elementwise kernels. PyTorch's templates are matched by the functor that they apply.
    {"catarraybatched", F::kCopy},
    {"fillfunctor", F::kCopy},
    {"fill_kernel", F::kCopy},
    {"vectorized_elementwise_kernel*copy_kernel", F::kCopy},
    {"vectorized_templated_elementwise*copy_kernel", F::kCopy},
    {"unrolled_elementwise_kernel*copy_kernel", F::kCopy},
    {"elementwise_kernel*direct_copy_kernel", F::kTranspose},
    {"elementwise_kernel*copy_kernel", F::kTranspose},
    {"split_with_sizes_copy", F::kCopy},
    {"chunk_cat", F::kCopy},
    {"reduce_kernel", F::kReduction},
    {"reduce_1block", F::kReduction},
    {"devicereduce", F::kReduction},
    {"triton_red", F::kReduction},
    {"nll_loss", F::kReduction},
    {"cross_entropy", F::kReduction},
    {"_loss", F::kReduction},
    {"allreduce_fusion", F::kNone},
    {"elementwise", F::kElementwise},
    {"triton_poi", F::kElementwise},
    {"triton_fused", F::kElementwise},
    {"pointwise", F::kElementwise},
    {"dropout", F::kElementwise},
    {"masked_scale", F::kElementwise},
    {"distribution_", F::kElementwise},
    {"act_and_mul", F::kElementwise},
    {"silu", F::kElementwise},
    {"gelu", F::kElementwise},
    {"swiglu", F::kElementwise},
    {"rotary", F::kElementwise},
    {"rope", F::kElementwise},
    {"quant", F::kElementwise},
    {"pool", F::kElementwise},
    {"upsample", F::kElementwise},
    {"optensor", F::kElementwise},
    {"op_tensor", F::kElementwise},
    {"activation", F::kElementwise},
    {"triu_tril", F::kElementwise},
    {"fused_dropout", F::kElementwise},
    {"roll_cuda", F::kTranspose},
    {"for_each", F::kElementwise},
    {"transpose", F::kTranspose},
    {"permute", F::kTranspose},
    {"castop", F::kCopy},
    {"_copy_", F::kCopy},
    {"copy_kernel", F::kCopy},
    {"castkernel", F::kCopy},
};

bool NameFits(absl::string_view name, absl::string_view pattern) {
  for (absl::string_view piece : absl::StrSplit(pattern, '*')) {
    const size_t at = name.find(piece);
    if (at == absl::string_view::npos) return false;
    name.remove_prefix(at + piece.size());
  }
  return true;
}

// The set of pairs of adjacent characters in a text. A pattern with a pair that the name lacks cannot fit, so
// few patterns are searched for. Different pairs may have the same number.
class Pairs {
 public:
  explicit Pairs(absl::string_view text) {
    for (size_t i = 0; i + 1 < text.size(); ++i) has_.set(Number(text, i));
  }
  bool Has(size_t number) const { return has_.test(number); }
  static size_t Number(absl::string_view text, size_t i) {
    return (static_cast<size_t>(text[i]) & 31) << 5 | (static_cast<size_t>(text[i + 1]) & 31);
  }

 private:
  std::bitset<1024> has_;
};

struct CountedPattern {
  absl::string_view pattern;
  KernelFamily family;
  std::array<uint16_t, 3> pairs;  // pairs that every name which fits has
};

// Patterns are also found by the pairs of their first piece, which therefore has at least two characters.
static_assert(std::all_of(std::begin(kPatterns), std::end(kPatterns), [](const NamePattern& line) {
  const absl::string_view pattern = line.pattern;
  return pattern.size() > 1 && pattern[0] != '*' && pattern[1] != '*';
}));

const std::vector<CountedPattern>& Patterns() {
  static const auto* const patterns = [] {
    auto* all = new std::vector<CountedPattern>();
    for (const NamePattern& line : kPatterns) {
      CountedPattern counted{line.pattern, line.family, {}};
      const absl::string_view piece = counted.pattern.substr(0, counted.pattern.find('*'));
      const size_t last = piece.size() - 2;
      for (size_t i = 0; i < 3; ++i) {
        counted.pairs[i] = static_cast<uint16_t>(Pairs::Number(piece, i * last / 2));
      }
      all->push_back(counted);
    }
    return all;
  }();
  return *patterns;
}

struct NamedDtype {
  const char* pattern;  // lower case
  KernelDtype dtype;
};

// Dtypes in the names of GEMM kernels; the first pattern that fits wins. s1688 and s16816 are the shapes of
// Ampere's instructions for TF32 and 16 bits (PTX ISA, mma). Tensile writes the types of inputs, output and
// accumulator (BBS: bf16, bf16, fp32).
constexpr NamedDtype kNamedDtypes[] = {
    {"mxfp4", KernelDtype::kFp4},   {"e2m1", KernelDtype::kFp4},       {"e4m3", KernelDtype::kFp8},
    {"e5m2", KernelDtype::kFp8},    {"_f8", KernelDtype::kFp8},        {"fp8", KernelDtype::kFp8},
    {"tf32", KernelDtype::kTf32},   {"bf16", KernelDtype::kBf16},      {"bfloat16", KernelDtype::kBf16},
    {"s16816", KernelDtype::kBf16}, {"h16816", KernelDtype::kBf16},    {"f16f16", KernelDtype::kBf16},
    {"half", KernelDtype::kBf16},   {"hgemm", KernelDtype::kBf16},     {"fp16", KernelDtype::kBf16},
    {"_bbs_", KernelDtype::kBf16},  {"_b_bs_", KernelDtype::kBf16},    {"_hhs_", KernelDtype::kBf16},
    {"_hh_s", KernelDtype::kBf16},  {"s1688", KernelDtype::kTf32},     {"dgemm", KernelDtype::kFp64},
    {"f64f64", KernelDtype::kFp64}, {"_dgemm", KernelDtype::kFp64},    {"i8i8", KernelDtype::kInt8},
    {"imma", KernelDtype::kInt8},   {"f32f32", KernelDtype::kFp32},    {"sgemm", KernelDtype::kFp32},
    {"scudnn", KernelDtype::kFp32}, {"_s_b_bias", KernelDtype::kFp32}, {"<float", KernelDtype::kFp32},
};

}  // namespace

absl::string_view Name(KernelFamily family) {
  if (family == KernelFamily::kGemm) return "gemm";
  if (family == KernelFamily::kAttention) return "attention";
  if (family == KernelFamily::kMoe) return "moe";
  if (family == KernelFamily::kHostCopy) return "host copy";
  if (family == KernelFamily::kNone) return "(no family)";
  return Name(*StreamKindOf(family));
}

KernelFamily FamilyOf(StreamKind kind) {
  return static_cast<KernelFamily>(static_cast<int>(KernelFamily::kElementwise) + static_cast<int>(kind));
}

std::optional<StreamKind> StreamKindOf(KernelFamily family) {
  const int kind = static_cast<int>(family) - static_cast<int>(KernelFamily::kElementwise);
  if (kind < 0 || kind >= kStreamKinds) return std::nullopt;
  return static_cast<StreamKind>(kind);
}

KernelFamily FamilyOfKernelName(absl::string_view name) {
  const std::string lower = absl::AsciiStrToLower(name);
  const Pairs pairs(lower);
  for (const CountedPattern& line : Patterns()) {
    const auto& [a, b, c] = line.pairs;
    if (pairs.Has(a) && pairs.Has(b) && pairs.Has(c) && NameFits(lower, line.pattern)) return line.family;
  }
  return KernelFamily::kNone;
}

bool IsBackwardKernel(absl::string_view name) {
  const std::string lower = absl::AsciiStrToLower(name);
  return absl::StrContains(lower, "bwd") || absl::StrContains(lower, "backward");
}

bool IsCublasKernel(absl::string_view name) {
  const std::string lower = absl::AsciiStrToLower(name);
  return absl::StrContains(lower, "cublas") || absl::StrContains(lower, "nvjet") ||
         absl::StrContains(lower, "xmma_gemm");
}

std::optional<KernelDtype> DtypeOfKernelName(absl::string_view name) {
  const std::string lower = absl::AsciiStrToLower(name);
  for (const NamedDtype& line : kNamedDtypes) {
    if (absl::StrContains(lower, line.pattern)) return line.dtype;
  }
  return std::nullopt;
}

}  // namespace chakra
