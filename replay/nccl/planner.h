// Finds the plan that a matched call runs, and its costs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "backends/machine.h"
#include "replay/collectives/registry.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/library.h"
#include "replay/nccl/planned_call.h"

namespace chakra {

// The time of an isolated call on `machine` with `costs`, without contention. The engine, which runs plans,
// implements it: PriceUncontended().
using PriceAlone = absl::StatusOr<Time> (*)(const MachineView& machine, const CollectiveCosts& costs,
                                            CollectiveType type, uint64_t bytes, int root,
                                            const std::vector<int>& members);

// A text that begins with the program's file and lists the calls that the program serves.
std::string Serves(const CustomProgram& program);

// Plans each kind, size and group once. Not thread-safe.
class CollectivePlanner {
 public:
  // `machine` gives groups their shape; `price` compares the choices of a library. `alone`: for isolated
  // calls whose members begin together, so that a plan with a closed form need not be built. `plans`, if not
  // null, keeps the plans and must outlive the planner.
  CollectivePlanner(const MachineView& machine, const CollectiveCosts& costs, PriceAlone price,
                    bool alone = false, PlanCache* plans = nullptr);
  CollectivePlanner(const CollectivePlanner&) = delete;
  CollectivePlanner& operator=(const CollectivePlanner&) = delete;

  // `members` are devices; the address of the vector identifies the group. `group` is the group's name for
  // LibraryModel::choice. `kernel`: see shipped::AlgorithmOfKernel(); a library uses that algorithm if the
  // group can run it and no rule says otherwise. Precondition: at least two members. Errors: an algorithm
  // that cannot plan the collective on this group.
  absl::StatusOr<const PlannedCall*> Get(CollectiveType type, uint64_t bytes, int root,
                                         const std::vector<int>& members, const std::string& group,
                                         const char* kernel = nullptr);

 private:
  using Key = std::tuple<CollectiveType, uint64_t, int, const std::vector<int>*, const char*>;

  absl::Status PlanFromFile(const CustomProgram& program, int root, int ranks, PlannedCall* out);
  // The program from a file that serves these calls under `rule`, which may name the program; null: none.
  const CustomProgram* FindProgram(CollectiveType type, uint64_t bytes, int root, int ranks,
                                   const std::string& rule) const;
  // The number of the group's levels, from the first one, that are rings.
  int AxesOf(const GroupShape& shape) const;
  // The bandwidth of a member's links at each level of the group's blocks, as a share of the largest.
  std::vector<double> Bandwidths(const std::vector<int>& members, const GroupShape& shape) const;
  absl::Status PlanPlain(CollectiveType type, uint64_t bytes, int root, const std::vector<int>& members,
                         const GroupShape& shape, const std::string& group, PlannedCall* out);
  // `algorithm`, which may name an algorithm for each dimension, reduced to the dimensions that a group of
  // this shape spans.
  absl::StatusOr<std::string> AlgorithmOn(const GroupShape& shape, CollectiveType type,
                                          const std::string& algorithm) const;
  absl::Status PlanWithLibrary(CollectiveType type, uint64_t bytes, int root, const std::vector<int>& members,
                               const GroupShape& shape, const std::string& group, const char* kernel,
                               PlannedCall* out);
  const GroupShape& Shape(const std::vector<int>& members);

  const MachineView& machine_;
  const CollectiveCosts& costs_;
  PriceAlone price_;
  bool alone_;
  bool by_size_;  // whether plans depend on the size of a call
  PlanCache own_plans_;
  PlanCache& plans_;
  absl::flat_hash_map<const std::vector<int>*, GroupShape> shapes_;
  std::map<Key, std::unique_ptr<PlannedCall>> calls_;
};

}  // namespace chakra
