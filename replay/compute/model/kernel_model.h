// Predicts the time of a kernel that nobody measured: laws of tiles, waves, caches and memory, by family of
// kernels, with constants by architecture (replay/compute/fitted). What the laws leave unexplained on
// measured devices is corrected from tables of residuals.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"

namespace chakra {

// Element types of operands, by how the matrix units take them.
enum class KernelDtype : uint8_t {
  kFp64,
  kFp32,  // products in full precision
  kTf32,
  kBf16,      // and fp16: one rate
  kFp8,       // a scale for each tensor or row
  kFp8Block,  // a scale for each block of 128
  kFp4,       // NVFP4, MXFP4
  kInt8,
  kInt4Weights,  // weights of 4 bits, products in bf16
};
inline constexpr int kKernelDtypes = 9;

// "fp64", "fp32", "tf32", "bf16", "fp8", "fp8_block", "fp4", "int8", "int4_wo".
absl::string_view Name(KernelDtype dtype);
// Also takes other spellings: "bfloat16", "float16", "fp16", "half", "nvfp4", "float", "e4m3", ... Errors
// (InvalidArgument): an unknown name, with the nearest one and the list.
absl::StatusOr<KernelDtype> ParseKernelDtype(absl::string_view text);
double BytesOf(KernelDtype dtype);  // of an element, scales included

// `batch` products of m x k and k x n matrices.
struct GemmCall {
  KernelDtype dtype = KernelDtype::kBf16;
  double batch = 1, m = 0, n = 0, k = 0;
  bool cublas = false;       // by cuBLAS, where the usual kernel of the dtype is another library's (fp8, fp4)
  bool accumulates = false;  // the result, in fp32, is added to what is there
  bool each = false;  // a kernel for each of `batch`, on a few streams (TransformerEngine's grouped products)
};

// Of `batch` sequences: `seq` queries each, after `prefix` keys and values that are there already.
struct AttentionCall {
  KernelDtype dtype = KernelDtype::kBf16, kv_dtype = KernelDtype::kBf16;
  double batch = 1, seq = 0, prefix = 0, heads = 0, kv_heads = 0, head_dim = 0;
  double v_dim = 0;  // width of values, where it is not head_dim, that of queries and keys (latent attention)
  double window = 0;  // keys that a query sees; 0: all
  bool causal = true;
  bool backward = false;
  bool capped = false;  // each score goes through tanh (Gemma 2)
  // Of several measured ones: "fa3", "trtllm_mha", ..., or "flash1"; "": the usual one.
  absl::string_view kernel = "";
};

// FlashAttention of 2022, which no table has.
inline constexpr absl::string_view kFlash1 = "flash1";

// `name` as text of static storage if `kernel` may have it; "": it may not.
absl::string_view KnownAttentionKernel(absl::string_view name);

// The experts of one device: `tokens` of all its group, `experts` in all, spread over ep; inter / tp columns
// each.
struct MoeCall {
  KernelDtype dtype = KernelDtype::kBf16;
  double tokens = 0, hidden = 0, inter = 0, topk = 0, experts = 0, tp = 1, ep = 1;
  double power_law = 0;  // exponent of the experts' shares; 0: all have equal ones
};

// Kernels that stream through memory.
enum class StreamKind : uint8_t {
  kElementwise,  // and fused ones
  kReduction,    // sums, norms of vectors, losses
  kNorm,         // layer and RMS norms, softmax: rows that stay on chip between two passes
  kCopy,         // copies in a device, fills, concatenations
  kTranspose,    // and copies with other strides
  kGather,       // embeddings, indices
  kOptimizer,    // steps of an optimizer, multi-tensor kernels
  kScan,         // sorts, scans, top-k
};
inline constexpr int kStreamKinds = 8;
absl::string_view Name(StreamKind kind);  // "elementwise", ...

struct StreamCall {
  StreamKind kind = StreamKind::kElementwise;
  double bytes = 0;         // read and written
  double operations = 0;    // on vector units, in fp32
  bool for_layout = false;  // a transpose that products of fp8 ask for; nothing where they take any layout
};

// What else the device does, and what waits for it. A benchmark's device is cool when a kernel begins; in a
// training step products follow each other for seconds, at the clock that power allows, and all devices wait
// for the slowest.
struct KernelLoad {
  bool steady = false;
  int64_t devices = 1;  // that wait for each other

  static KernelLoad Alone() { return {}; }
  static KernelLoad Steady(int64_t devices) { return {true, devices}; }
};

// What the model answers.
struct ModelledTime {
  double us = 0;
  double low_us = 0, high_us = 0;  // 90 of 100 measurements lie between them
  const char* from = "";  // what it rests on: "measured device", "measured architecture", "data sheet"
};

class KernelModel {
 public:
  // `device` is copied. Errors (InvalidArgument): the device has no peak of its default dtype or no memory
  // bandwidth, an architecture that is not known.
  static absl::StatusOr<KernelModel> Create(const proto::Device& device, KernelLoad load = {});
  ~KernelModel();
  KernelModel(KernelModel&&) noexcept;
  KernelModel& operator=(KernelModel&&) noexcept;

  // Errors (InvalidArgument) of all: a dimension that is not finite or below 1 (the error names it), products
  // beyond 2^62, a dtype that the device has no unit for (fp4 on Hopper).
  absl::StatusOr<ModelledTime> Gemm(const GemmCall& call) const;
  absl::StatusOr<ModelledTime> Attention(const AttentionCall& call) const;
  absl::StatusOr<ModelledTime> Moe(const MoeCall& call) const;
  absl::StatusOr<ModelledTime> Stream(const StreamCall& call) const;

  const proto::Device& device() const;

 private:
  struct Machine;
  struct Answer;
  absl::Status CheckDtype(KernelDtype dtype) const;
  explicit KernelModel(std::unique_ptr<const Machine> machine);
  std::unique_ptr<const Machine> machine_;
};

}  // namespace chakra
