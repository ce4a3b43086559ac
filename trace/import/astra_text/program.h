// The program of each rank of a text workload, in the order of ASTRA-sim 1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/astra_text/workload.h"

namespace chakra::astra_text {

// The ranks that take part in a collective.
enum class Scope : uint8_t {
  kAll,
  kFirstDimension,   // of the network: ranks that differ only in it
  kOtherDimensions,  // ranks that differ only in the other dimensions
  kTensor,           // blocks of model_parallel_NPU_group consecutive ranks
  kData,             // ranks with the same position in these blocks
  kExpert,           // ep consecutive members of a kData group
  kExpertData,       // members of a kData group with the same position in their kExpert groups
};
inline constexpr int kScopes = 7;
absl::string_view Name(Scope scope);  // "tp"

// How ranks share the work.
struct Layout {
  int ranks = 1;
  int tensor = 1;  // tensor * expert divides ranks
  int expert = 1;
  // Number of ranks of a scope's groups; 0: it depends on the dimensions of the network.
  int SizeOf(Scope scope) const;
  // The number of a rank's group, from 0, and the members of this group, ascending. Precondition:
  // SizeOf(scope) > 0.
  int GroupOf(Scope scope, int rank) const;
  std::vector<int> MembersOf(Scope scope, int rank) const;
};

// Returns the layout. `ranks`: number of ranks; 0: that of the workload or, if it has none, the smallest
// possible number. Errors: the number of ranks is not a multiple of the ranks that share a layer.
absl::StatusOr<Layout> LayoutOf(const Workload& workload, int ranks, absl::string_view file);

struct ProgramNode {
  struct Dep {
    uint32_t node = 0;
    int64_t delay_ns = 0;
  };
  std::string name;
  bool collective = false;
  bool host = false;        // the end of the step
  int64_t duration_ns = 0;  // of computation
  CollectiveType type = CollectiveType::kAllReduce;
  Scope scope = Scope::kAll;
  uint64_t bytes = 0;     // comm_size
  std::vector<Dep> deps;  // on earlier nodes
};

struct Program {
  std::vector<ProgramNode> nodes;
  std::vector<std::string> warnings;
};

// Builds the program of one step: forward, then backward from the last layer to the first. A rank computes
// one thing after the other. It waits at once for a collective of the forward pass, and at the end of the
// step for one of the weights' gradients. For a collective of the inputs' gradients it waits at once in
// HYBRID_TRANSFORMER and HYBRID_TRANSFORMER_FWD_IN_BCKWD, otherwise after the weights' gradient of the layer.
// Collectives of one rank, and those that the kind of parallelism does not run, are left out. Error: more
// than 2^22 nodes.
absl::StatusOr<Program> ProgramOf(const Workload& workload, const Layout& layout, absl::string_view file);

}  // namespace chakra::astra_text
