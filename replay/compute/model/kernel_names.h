// Determines the family of a kernel from its name. The family selects the law of the kernel model.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "replay/compute/model/kernel_model.h"

namespace chakra {

// The families of the kernel model: GEMMs (convolutions are implicit GEMMs), attention, experts, and those of
// StreamKind, in the order of StreamKind.
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
  kHostCopy,  // to and from the host's memory: the link sets the time, no law applies
  kNone,      // unknown
};
inline constexpr int kKernelFamilies = 13;

// "gemm", "attention", "moe", the names of StreamKind, "host copy", "(no family)".
absl::string_view Name(KernelFamily family);

KernelFamily FamilyOf(StreamKind kind);
// nullopt: kernels of the family do not stream.
std::optional<StreamKind> StreamKindOf(KernelFamily family);

// The family of a kernel by its name as profilers write it, demangled or not: PyTorch, cuBLAS, cuDNN,
// CUTLASS, Triton and Inductor, FlashAttention, TransformerEngine, FBGEMM, vLLM, rocBLAS and hipBLASLt
// (Tensile), CK, MIOpen, AOTriton. kNone: no pattern of the registry (kernel_names.cc) fits.
KernelFamily FamilyOfKernelName(absl::string_view name);

// Whether the name is that of a kernel of a backward pass.
bool IsBackwardKernel(absl::string_view name);

// Whether the name is that of a GEMM of cuBLAS. cuBLAS's fp8 kernels differ from those of serving libraries.
bool IsCublasKernel(absl::string_view name);

// The type of the operands of the matrix units, by the name of a GEMM kernel ("sm80_xmma_gemm_f16f16...",
// "Cijk_..._BBS_"). nullopt: the name does not say.
std::optional<KernelDtype> DtypeOfKernelName(absl::string_view name);

}  // namespace chakra
