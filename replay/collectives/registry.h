// The collective algorithms by name. To add an algorithm: write a file next to ring.cc, declare its builder
// in builders.h, and add a line to registry.cc.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "replay/collectives/plan.h"
#include "replay/collectives/request.h"

namespace chakra {

// The collective with a name, and the names of all collectives, in the order of CollectiveType.
std::optional<CollectiveType> CollectiveNamed(absl::string_view name);
std::vector<std::string> CollectiveNames();

// The algorithms that can plan `type`, the default first.
std::vector<std::string> AlgorithmsFor(CollectiveType type);

// Whether `type` is a reduce-scatter, into blocks of one size or of several sizes.
inline bool IsReduceScatter(CollectiveType type) {
  return type == CollectiveType::kReduceScatter || type == CollectiveType::kReduceScatterBlock;
}

// Whether only libraries on hosts (MPI) have this algorithm of `type`; libraries of devices do not consider
// it.
bool IsOfHosts(CollectiveType type, absl::string_view algorithm);

// Builds the plan for `request`. Errors: an algorithm that cannot plan the collective (the error lists those
// that can); a group whose size or blocks the algorithm does not support; FailedPrecondition if the algorithm
// needs two levels of blocks and `request` has fewer.
absl::StatusOr<Plan> BuildPlan(const PlanRequest& request);

// Whether all members do the same: first send one message to each other member, then receive one from each.
bool IsExchange(const Plan& plan);

// Derives stream_base and connection_base of a plan whose programs are filled.
void NumberThrough(Plan* plan);

// True for broadcast, reduce, gather and scatter.
bool IsRooted(CollectiveType type);

// Checks by symbolic execution that the plan computes its collective for every order in which messages can
// arrive, that no step waits for itself, and that the sends and receives of each connection agree in number
// and size. Errors name the member and the step. Cost grows with members x steps x chunks.
absl::Status ValidatePlan(const Plan& plan, int root);

// Builds each plan once. Not thread-safe.
class PlanCache {
 public:
  // The plan lives as long as the cache.
  absl::StatusOr<const Plan*> Get(PlanRequest request);

 private:
  std::map<PlanRequest, std::unique_ptr<Plan>> plans_;
};

}  // namespace chakra
