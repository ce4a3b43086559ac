// From the name of a kernel to its family: which law of the kernel model prices it.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "replay/compute/model/kernel_model.h"

namespace chakra {

// The families of the kernel model: products of matrices (convolutions are implicit ones), attention,
// experts, and those of StreamKind, in its order.
enum class KernelFamily : uint8_t {
  kGemm,
  kAttention,
  kMoe,
  kElementwise,
  kReduction,
  kNorm,
  kCopy,
  kTranspose,
  kGather,
  kOptimizer,
  kScan,
  kHostCopy,  // to and from the host's memory: no law of a device's; the link sets the time
  kNone,      // not known
};
inline constexpr int kKernelFamilies = 13;

// "gemm", "attention", "moe", those of Name(StreamKind), "host copy", "(no family)".
absl::string_view Name(KernelFamily family);

KernelFamily FamilyOf(StreamKind kind);
// nullopt: the family does not stream.
std::optional<StreamKind> StreamKindOf(KernelFamily family);

// The family of a kernel by its name as profilers write it, demangled or not: PyTorch, cuBLAS, cuDNN,
// CUTLASS, Triton and Inductor, FlashAttention, TransformerEngine, FBGEMM, vLLM, rocBLAS and hipBLASLt
// (Tensile), CK, MIOpen, AOTriton. kNone: no line of the registry (kernel_names.cc) fits.
KernelFamily FamilyOfKernelName(absl::string_view name);

// Whether the name is that of a kernel of a backward pass.
bool IsBackwardKernel(absl::string_view name);

// Whether the name is that of a product of cuBLAS, whose fp8 differs from that of serving libraries.
bool IsCublasKernel(absl::string_view name);

// What the matrix units take, by the name of a product's kernel ("sm80_xmma_gemm_f16f16...",
// "Cijk_..._BBS_"). nullopt: the name does not tell.
std::optional<KernelDtype> DtypeOfKernelName(absl::string_view name);

}  // namespace chakra
