// The collective algorithms by name. To add one: a file beside ring.cc, its
// builder declared in builders.h, and a line in registry.cc.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "replay/collectives/plan.h"

namespace chakra {

// Names that can plan `type`, the default first.
std::vector<std::string> AlgorithmsFor(CollectiveType type);

// Builds the plan of `type` on `members` members. `root` is a member, used by
// rooted kinds only. An empty `algorithm` is the default.
// Errors: a name that cannot plan `type`, with those that can.
// Precondition: members >= 2, 0 <= root < members.
absl::StatusOr<Plan> BuildPlan(CollectiveType type, absl::string_view algorithm, int members, int root);

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
  // `algorithm` by collective name; absent: the default.
  explicit PlanCache(std::map<std::string, std::string> algorithm) : algorithm_(std::move(algorithm)) {}
  // The plan lives as long as the cache.
  absl::StatusOr<const Plan*> Get(CollectiveType type, int members, int root);

 private:
  std::map<std::string, std::string> algorithm_;
  std::map<std::tuple<CollectiveType, int, int>, std::unique_ptr<Plan>> plans_;
};

}  // namespace chakra
