// The collective algorithms by name. To add one: a file beside ring.cc, its
// builder declared in builders.h, and a line in registry.cc.
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

// The collectives by name, and all names in the order of CollectiveType.
std::optional<CollectiveType> CollectiveNamed(absl::string_view name);
std::vector<std::string> CollectiveNames();

// Names that can plan `type`, the default first.
std::vector<std::string> AlgorithmsFor(CollectiveType type);

// Builds what `request` asks for.
// Errors: a name that cannot plan the collective, with those that can; a group
// whose size or blocks the algorithm cannot serve; FailedPrecondition where it
// needs two levels of blocks and `request` has fewer.
absl::StatusOr<Plan> BuildPlan(const PlanRequest& request);

// Checks and numbers a plan whose programs are filled: derives stream_base and
// connection_base.
void NumberThrough(Plan* plan);

// True for broadcast, reduce, gather and scatter.
bool IsRooted(CollectiveType type);

// Checks by symbolic execution that the plan computes its collective on
// whichever order its messages take, never waits for itself, and that each
// connection's sends and receives agree in number and size. Errors name the
// member and the step. Cost grows with members x steps x chunks.
absl::Status ValidatePlan(const Plan& plan, int root);

// Plans built once for each shape. Not thread-safe.
class PlanCache {
 public:
  // The plan lives as long as the cache.
  absl::StatusOr<const Plan*> Get(PlanRequest request);

 private:
  std::map<PlanRequest, std::unique_ptr<Plan>> plans_;
};

}  // namespace chakra
