// Casts to nvfp4, the order of casts and gathers, and the operators of GEMMs that have another dtype.
#include "absl/strings/string_view.h"
#include "trace/generate/layers.h"
#include "trace/generate/operators.h"

namespace chakra::generate {

namespace {

// Operations of vector units for an element of a cast to nvfp4 whose time is not that of memory. Measured on
// GB200 for 4 x 2,048 x 7,168 elements (pytorch/ao, benchmarks/prototype/nvfp4_training, README.md), whose
// vector units do 20 TFLOP/s in a stream: TransformerEngine's cast takes 38 us, as memory does, and 62 us
// with random numbers; torchao's in Triton 87 and 160 us, and its search for the maximum 40 us.
struct CastOperations {
  int64_t nearest, stochastic, greatest;
};
constexpr CastOperations kTransformerEngine = {1, 20, 1}, kTorchao = {29, 54, 13};

const CastOperations& OperationsOf(const TrainingPlan& t) {
  return t.framework == proto::Training::MEGATRON ? kTransformerEngine : kTorchao;
}

}  // namespace

// One kernel reads the tensor, and writes its rows and, transformed and transposed, its columns
// (TransformerEngine, nvte_quantize_with_hadamard_transform; for experts
// nvte_group_hadamard_transform_cast_fusion). The transform, a multiplication of 16 elements with a 16 x 16
// matrix, runs on matrix units, behind the memory's time. Another kernel reads and writes the scales.
Operator Operators::CastToFour(int64_t elements, bool gradient) const {
  const int64_t scales = 2 * ((elements + 15) / 16);
  const int64_t bytes = element_bytes_ * elements + 2 * training_.NarrowBytes(elements) + 2 * scales;
  const CastOperations& each = OperationsOf(training_);
  return Stream("nvfp4_quantize_kernel", bytes,
                (gradient && training_.stochastic ? each.stochastic : each.nearest) * elements);
}

Operator Operators::GreatestOfFour(int64_t elements) const {
  return Stream(training_.hadamard ? "hadamard_transform_amax_reduce_kernel" : "amax_reduce_kernel",
                element_bytes_ * elements, OperationsOf(training_).greatest * elements);
}

const Operators& LayerBuilder::OpsOf(const char* part) const {
  const TrainingPlan& t = plan_.training;
  // Routers stay in bf16. In steps of fp8, the GEMMs of their gradients have been fp8's from the beginning.
  if (t.dtype == proto::Training::NVFP4 && absl::string_view(part) == "router") return others_[0];
  if (!t.mixes()) return ops_;
  const auto dtype = t.DtypeOf(plan_.InBf16(spot_.layer), part);
  if (dtype == t.dtype) return ops_;
  return others_[dtype == proto::Training::BF16 ? 0 : dtype == proto::Training::FP8 ? 1 : 2];
}

NodeList LayerBuilder::CastAndGather(int64_t width, const char* part, const NodeList& at, bool behind,
                                     int64_t directions) {
  const TrainingPlan& t = OpsOf(part).training();
  if (t.gathers_before_cast()) return Cast(tokens_, width, part, GatherTokens(width, part, at));
  return GatherInputs(width, part, CastShared(width, part, at, behind), directions);
}

}  // namespace chakra::generate
