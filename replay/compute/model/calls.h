// Turns a node of a trace into calls of the kernel model: an operator with its shapes, or a kernel of a
// capture.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "replay/compute/model/kernel_model.h"
#include "replay/compute/model/kernel_names.h"
#include "replay/compute/model/predict.h"
#include "replay/compute/operators/operands.h"

namespace chakra {

// The kernels that an operator runs: usually one; the backward pass of a convolution runs two GEMMs.
struct FamilyCalls {
  KernelFamily family = KernelFamily::kNone;
  std::vector<KernelCall> calls;
};

// The calls of an operator of PyTorch by name ("aten::mm", "mm") and operands; all operators of
// operator_work.cc have some. Convolutions are implicit GEMMs (Chetlur et al., "cuDNN", 2014, section 3):
// forward m = pixels of the result, n = filters, k = taps of a filter; the gradient of the input swaps
// filters and channels, the gradient of the weight sums over the pixels. Each of `groups` groups is an
// element of the batch. As in operator_work.h, shapes do not determine strides (the result is assumed to be
// as large as the input) or a mask (attention is assumed to have none). fp32 means fp32. nullopt: the
// registry does not have the operator, or the operands do not fit.
std::optional<FamilyCalls> CallsOfOperator(absl::string_view name, const std::vector<Operand>& operands,
                                           int unknown_element_bytes);

// A kernel as a capture or a kernel table describes it.
struct KernelFacts {
  absl::string_view name;
  absl::string_view op;              // the operator that launched the kernel; "": unknown
  absl::string_view shapes, dtypes;  // of that operator's operands; "": unknown
  double operations = 0,
         bytes = 0;  // its own work; 0: unknown. Attention that computes half the pairs has a causal mask
};

// The family of a kernel, and its call if work or shapes determine one (at most one call: a kernel is only
// one of the GEMMs of an operator). The name determines the family; if it does not, the operator does.
// Without an operator, the operands must fit an operator of the family: [n], [m, k], [k, n] are those of
// addmm.
FamilyCalls CallsOfKernel(const KernelFacts& kernel, int unknown_element_bytes);

// The time of kernels that run one after another: times and bounds are added up. Errors: those of
// KernelModel; no calls.
absl::StatusOr<ModelledTime> PredictAll(const KernelModel& model, const std::vector<KernelCall>& calls);

}  // namespace chakra
