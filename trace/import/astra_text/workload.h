// Text workloads: one line for each layer. ASTRA-sim 1 and SimAI read them; AICB writes them.
//
//   HYBRID_TRANSFORMER model_parallel_NPU_group: 4
//   2
//   layer0 -1 100 ALLREDUCE 4096 100 NONE 0 100 ALLREDUCE 8192 10
//   layer1 -1 100 NONE      0    100 NONE 0 100 ALLREDUCE 8192 10
//
// The first line names the kind of parallelism, the second the number of layers. A layer has a name and a
// number without a meaning. Then it has, for each of the forward pass, the gradient of the inputs and that of
// the weights, a time of computation (ns), a collective and its bytes. The last number is a time (ns) that
// passes after each of its collectives. With HYBRID_CUSTOMIZED, each layer also names its own kind.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra::astra_text {

enum class Kind : uint8_t {
  kMicro,
  kData,
  kModel,
  kHybridDataModel,
  kHybridModelData,
  kHybridCustomized,
  kHybridTransformer,
  kHybridTransformerFwdInBckwd,
  kHybridDlrm,
  kHybridDlrmEnhanced,
  kDistributedInference,
};
absl::string_view Name(Kind kind);  // "HYBRID_DATA_MODEL"
inline bool IsTransformer(Kind kind) {
  return kind == Kind::kHybridTransformer || kind == Kind::kHybridTransformerFwdInBckwd;
}

// The passes of a layer.
enum Pass : uint8_t { kForward, kInputGradient, kWeightGradient };
inline constexpr int kPasses = 3;

// The end of a collective's name: it selects the ranks that make the call.
enum class Suffix : uint8_t { kNone, kEp, kDpEp };  // "ALLTOALL", "ALLTOALL_EP", "ALLREDUCE_DP_EP"

struct LayerPass {
  int64_t compute_ns = 0;
  bool communicates = false;
  CollectiveType type = CollectiveType::kAllReduce;
  Suffix suffix = Suffix::kNone;
  uint64_t bytes = 0;
};

struct Layer {
  std::string name;
  std::array<LayerPass, kPasses> pass;
  int64_t update_ns = 0;
  Kind kind = Kind::kData;  // that of the workload or, with HYBRID_CUSTOMIZED, the layer's own
};

struct Workload {
  Kind kind = Kind::kData;
  // From the first line; 0: not given.
  int model_parallel = 0;
  int expert_parallel = 0;
  int ranks = 0;
  uint32_t last_bottom_layer = 0;           // of HYBRID_DLRM and HYBRID_DLRM_ENHANCED
  std::vector<uint32_t> checkpoints;        // layers at which recomputation may begin; sorted
  std::vector<uint32_t> recomputed_before;  // layers before whose backward pass recomputation runs; sorted
  std::vector<Layer> layers;
  std::vector<std::string> warnings;
};

// Whether a file that begins with `head` is a text workload.
bool LooksLikeTextWorkload(absl::string_view head);

// Reads a workload. Errors (InvalidArgument) name the line, the field and what is expected.
absl::StatusOr<Workload> ReadTextWorkload(absl::string_view text, absl::string_view file);

}  // namespace chakra::astra_text
