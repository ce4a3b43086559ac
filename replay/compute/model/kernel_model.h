// Predicts the time of a kernel that nobody measured. Each family of kernels has a law of tiles, waves,
// caches and memory, with constants by architecture (replay/compute/fitted). Tables of residuals correct the
// laws for measured devices.
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

// Element types of operands, as the matrix units distinguish them.
enum class KernelDtype : uint8_t {
  kFp64,
  kFp32,  // GEMMs in full precision
  kTf32,
  kBf16,      // and fp16, which has the same rate
  kFp8,       // a scale for each tensor or row
  kFp8Block,  // a scale for each block of 128
  kFp4,       // NVFP4, MXFP4
  kInt8,
  kInt4Weights,  // weights of 4 bits, GEMMs in bf16
};
inline constexpr int kKernelDtypes = 9;

// "fp64", "fp32", "tf32", "bf16", "fp8", "fp8_block", "fp4", "int8", "int4_wo".
absl::string_view Name(KernelDtype dtype);
// Also accepts other names: "bfloat16", "float16", "fp16", "half", "nvfp4", "float", "e4m3", ... Errors
// (InvalidArgument): an unknown name; the error has the nearest name and the list.
absl::StatusOr<KernelDtype> ParseKernelDtype(absl::string_view text);
double BytesOf(KernelDtype dtype);  // of one element, including its share of block scales

// `batch` GEMMs of m x k and k x n matrices.
struct GemmCall {
  KernelDtype dtype = KernelDtype::kBf16;
  double batch = 1, m = 0, n = 0, k = 0;
  // Runs in cuBLAS, though the usual kernel of the dtype is another library's (fp8, fp4).
  bool cublas = false;
  bool accumulates = false;  // the fp32 result is added to the output
  bool each = false;  // one kernel for each of `batch`, on a few streams (TransformerEngine's grouped GEMMs)
};

// `batch` sequences with `seq` queries each, after `prefix` cached keys and values.
struct AttentionCall {
  KernelDtype dtype = KernelDtype::kBf16, kv_dtype = KernelDtype::kBf16;
  double batch = 1, seq = 0, prefix = 0, heads = 0, kv_heads = 0, head_dim = 0;
  // Width of values if it differs from head_dim, the width of queries and keys (latent attention); 0:
  // head_dim.
  double v_dim = 0;
  double window = 0;  // keys that a query sees; 0: all
  bool causal = true;
  bool backward = false;
  bool capped = false;  // each score goes through tanh (Gemma 2)
  // One of several measured kernels: "fa3", "trtllm_mha", ..., or "flash1" or "flash2"; "": the default.
  absl::string_view kernel = "";
};

// The first version of FlashAttention (2022), which no table has.
inline constexpr absl::string_view kFlash1 = "flash1";
// The second one, which Hopper's table does not have. PyTorch's scaled_dot_product_attention runs it there.
inline constexpr absl::string_view kFlash2 = "flash2";

// Returns `name` in static storage if it is a valid AttentionCall::kernel, else "".
absl::string_view KnownAttentionKernel(absl::string_view name);

// The experts of one device. `tokens` counts those of its whole group; the `experts` experts are spread over
// ep devices; each expert has inter / tp columns on a device.
struct MoeCall {
  KernelDtype dtype = KernelDtype::kBf16;
  double tokens = 0, hidden = 0, inter = 0, topk = 0, experts = 0, tp = 1, ep = 1;
  double power_law = 0;  // exponent of the experts' unequal shares; 0: equal shares
};

// Kernels that stream through memory.
enum class StreamKind : uint8_t {
  kElementwise,  // and fused elementwise kernels
  kReduction,    // sums, norms of vectors, losses
  kNorm,         // layer and RMS norms, softmax: rows that stay on chip between two passes
  kCopy,         // copies in a device, fills, concatenations
  kTranspose,    // and copies that change strides
  kGather,       // embeddings, indices
  kOptimizer,    // optimizer steps, multi-tensor kernels
  kScan,         // sorts, scans, top-k
};
inline constexpr int kStreamKinds = 8;
absl::string_view Name(StreamKind kind);  // "elementwise", ...

struct StreamCall {
  StreamKind kind = StreamKind::kElementwise;
  double bytes = 0;       // read and written
  double operations = 0;  // on vector units, in fp32
  // A transpose that GEMMs of fp8 need; takes no time on devices whose GEMMs take any layout.
  bool for_layout = false;
};

// The load of the device, and the devices that wait for it. In a benchmark the device is cool when a kernel
// begins. In a training step GEMMs follow each other for seconds, power limits the clock, and all devices
// wait for the slowest.
struct KernelLoad {
  bool steady = false;
  int64_t devices = 1;  // devices that wait for each other

  static KernelLoad Alone() { return {}; }
  static KernelLoad Steady(int64_t devices) { return {true, devices}; }
};

// The answer of the model.
struct ModelledTime {
  double us = 0;
  double low_us = 0, high_us = 0;  // 90 of 100 measurements are between low_us and high_us
  const char* from = "";  // basis of the answer: "measured device", "measured architecture", "data sheet"
};

class KernelModel {
 public:
  // `device` is copied. Errors (InvalidArgument): the device has no peak or no memory bandwidth; an unknown
  // architecture.
  static absl::StatusOr<KernelModel> Create(const proto::Device& device, KernelLoad load = {});
  ~KernelModel();
  KernelModel(KernelModel&&) noexcept;
  KernelModel& operator=(KernelModel&&) noexcept;

  // Predict one kernel. Errors (InvalidArgument): a dimension that is not finite or too small (the error
  // names it); more than 2^62 operations; a dtype that the device has no unit for (fp4 on Hopper).
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
