// From a matched call to the plan that it runs and what that costs.
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
#include "backends/fabric.h"
#include "replay/collectives/registry.h"
#include "replay/engine/engine.h"
#include "replay/nccl/library.h"

namespace chakra {

// One way to run calls of one kind, size and group. Lives as long as its planner.
struct PlannedCall {
  const Plan* plan = nullptr;  // null where `together` is all that is asked for
  // See TimeTogether(): of planners that price calls alone, and where all members end at once.
  std::optional<Time> together;
  CallCosts costs;
  std::string algorithm;  // "ring", or "ring/simple" of a library
  std::string why;        // of a library's choice; empty without one
  int channels = 1;       // known with a library, and of programs from files
};

// Plans each kind, size and group once. Not thread-safe.
class CollectivePlanner {
 public:
  // `fabric` gives groups their shape. `alone`: for calls that run by themselves and whose members begin
  // together, so that a plan with a closed form need not be built.
  CollectivePlanner(const Fabric& fabric, const CollectiveCosts& costs, bool alone = false)
      : fabric_(fabric), costs_(costs), alone_(alone) {}

  // `members` are devices and name the group by their address; `group` is its
  // name for LibraryModel::choice. Precondition: at least two members.
  // Errors: an algorithm that cannot plan the collective on this group.
  absl::StatusOr<const PlannedCall*> Get(CollectiveType type, uint64_t bytes, int root,
                                         const std::vector<int>& members, const std::string& group);

 private:
  using Key = std::tuple<CollectiveType, uint64_t, int, const std::vector<int>*>;

  absl::Status PlanFromFile(const CustomProgram& program, int root, int ranks, PlannedCall* out);
  // The program from a file that serves such calls under `rule`, which may name it; null: none does.
  const CustomProgram* FindProgram(CollectiveType type, uint64_t bytes, int root, int ranks,
                                   const std::string& rule) const;
  // Of a member's links at each level of the group's blocks, as shares of the largest.
  std::vector<double> Bandwidths(const std::vector<int>& members, const GroupShape& shape) const;
  absl::Status PlanPlain(CollectiveType type, uint64_t bytes, int root, const std::vector<int>& members,
                         const GroupShape& shape, PlannedCall* out);
  absl::Status PlanWithLibrary(CollectiveType type, uint64_t bytes, int root, const std::vector<int>& members,
                               const GroupShape& shape, const std::string& group, PlannedCall* out);
  const GroupShape& Shape(const std::vector<int>& members);

  const Fabric& fabric_;
  const CollectiveCosts& costs_;
  bool alone_;
  PlanCache plans_;
  absl::flat_hash_map<const std::vector<int>*, GroupShape> shapes_;
  std::map<Key, std::unique_ptr<PlannedCall>> calls_;
};

}  // namespace chakra
