// From a node of a trace to calls of the kernel model: an operator with its shapes, or a kernel of a capture.
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

// What an operator runs: mostly one kernel; a convolution's backward runs two products.
struct FamilyCalls {
  KernelFamily family = KernelFamily::kNone;
  std::vector<KernelCall> calls;
};

// The calls of an operator of PyTorch by name ("aten::mm", "mm") and operands; all operators of
// operator_work.cc have some. Products are products; convolutions are implicit products (Chetlur et al.,
// "cuDNN", 2014, section 3): forward m = pixels of the result, n = filters, k = taps of a filter; the
// gradient of the input swaps filters and channels, that of the weight sums over the pixels. Each of `groups`
// groups is one of a batch. As for operator_work.h, shapes do not tell strides (the result is taken to be as
// large as the input) or a mask (attention is taken to have none). fp32 means fp32. nullopt: the registry
// does not have the operator, or the operands do not fit.
std::optional<FamilyCalls> CallsOfOperator(absl::string_view name, const std::vector<Operand>& operands,
                                           int unknown_element_bytes);

// A kernel, as a capture or a kernel table tells of it.
struct KernelFacts {
  absl::string_view name;
  absl::string_view op;              // the operator that launched it; "": not told
  absl::string_view shapes, dtypes;  // of that operator's operands; "": not told
  double operations = 0,
         bytes = 0;  // its own work; 0: not told. Attention of half the pairs has a causal mask
};

// The family of a kernel, and the call of it where work or shapes tell one (at most one call: a kernel is one
// of the products of an operator). The name tells the family; what it does not tell, the operator does.
// Without an operator, the operands must fit one of the family: [n], [m, k], [k, n] are those of addmm.
FamilyCalls CallsOfKernel(const KernelFacts& kernel, int unknown_element_bytes);

// What the model says of kernels that run one after another: times and bounds add up. Errors: those of
// KernelModel; no calls.
absl::StatusOr<ModelledTime> PredictAll(const KernelModel& model, const std::vector<KernelCall>& calls);

}  // namespace chakra
