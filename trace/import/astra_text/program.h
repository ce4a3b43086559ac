// What each rank of a text workload runs, in the order of ASTRA-sim 1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/astra_text/workload.h"

namespace chakra::astra_text {

// Who takes part in a collective.
enum class Scope : uint8_t {
  kAll,
  kFirstDimension,   // of the network: ranks that differ in it alone
  kOtherDimensions,  // ranks that differ in the others alone
  kTensor,           // neighbours, model_parallel_NPU_group at a time
  kData,             // ranks with the same place among these neighbours
  kExpert,           // of kData, neighbours, ep at a time
  kExpertData,       // of kData, ranks with the same place among these
};
inline constexpr int kScopes = 7;
absl::string_view Name(Scope scope);  // "tp"

// How ranks share the work.
struct Layout {
  int ranks = 1;
  int tensor = 1;  // tensor * expert divides ranks
  int expert = 1;
  // Of kScopes those that the layout knows; 0: the network tells.
  int SizeOf(Scope scope) const;
  // The number of a rank's group, from 0, and its members, ascending. Precondition: SizeOf(scope) > 0.
  int GroupOf(Scope scope, int rank) const;
  std::vector<int> MembersOf(Scope scope, int rank) const;
};

// `ranks`: 0: what the workload says, else the fewest that can run it. Errors: a number of ranks that the
// workload's groups do not divide.
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

// One pass: forward, then backward from the last layer to the first. The rank computes one thing after the
// other. It waits for a collective of the forward pass at once, for one of the weights' gradients at the end
// of the step, and in between for one of the inputs' gradients: at once in HYBRID_TRANSFORMER and its like,
// after the weights' gradient of the layer elsewhere. Collectives of one rank, and those that the kind of
// parallelism does not run, are left out. Error: more than 2^22 nodes.
absl::StatusOr<Program> ProgramOf(const Workload& workload, const Layout& layout, absl::string_view file);

}  // namespace chakra::astra_text
