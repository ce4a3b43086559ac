// Text workloads: one line a layer, as ASTRA-sim 1 and SimAI read them and AICB writes them.
//
//   HYBRID_TRANSFORMER model_parallel_NPU_group: 4
//   2
//   layer0 -1 100 ALLREDUCE 4096 100 NONE 0 100 ALLREDUCE 8192 10
//   layer1 -1 100 NONE      0    100 NONE 0 100 ALLREDUCE 8192 10
//
// The first line names the kind of parallelism, the second the number of layers. A layer has a name, a number
// without a meaning, and for the forward pass, the gradient of the inputs and that of the weights each a time
// of computation (ns), a collective and its bytes. Last comes a time (ns) that passes after each of its
// collectives. With HYBRID_CUSTOMIZED a layer names its own kind.
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

// Of a layer.
enum Pass : uint8_t { kForward, kInputGradient, kWeightGradient };
inline constexpr int kPasses = 3;

// Whose call a collective is: what its name ends with.
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
  Kind kind = Kind::kData;  // HYBRID_CUSTOMIZED: its own; else that of the workload
};

struct Workload {
  Kind kind = Kind::kData;
  // Of the first line; 0: not told.
  int model_parallel = 0;
  int expert_parallel = 0;
  int ranks = 0;
  uint32_t last_bottom_layer = 0;           // of HYBRID_DLRM
  std::vector<uint32_t> checkpoints;        // layers that recomputation may begin with; sorted
  std::vector<uint32_t> recomputed_before;  // layers before whose backward pass it runs; sorted
  std::vector<Layer> layers;
  std::vector<std::string> warnings;
};

// Whether `head`, the beginning of a file, is that of a text workload.
bool LooksLikeTextWorkload(absl::string_view head);

// Errors (InvalidArgument) name the line, the field and what is expected.
absl::StatusOr<Workload> ReadTextWorkload(absl::string_view text, absl::string_view file);

}  // namespace chakra::astra_text
