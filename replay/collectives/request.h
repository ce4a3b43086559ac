// The request from which BuildPlan() builds a plan.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "trace/model/trace.h"

namespace chakra {

struct PlanRequest {
  CollectiveType type = CollectiveType::kAllReduce;
  std::string algorithm;  // empty: the default
  int members = 0;        // >= 2
  int root = 0;           // a member; rooted collectives only
  // Sizes of nested blocks, the fastest-running first (GPUs of a node, nodes of a pod, ...); their product is
  // `members`. Empty: one block of all members.
  std::vector<int> blocks;
  // Bandwidth of a member's links at each level of `blocks`, in any unit; empty: equal. `themis` uses it to
  // balance the load between levels.
  std::vector<double> bandwidth;
  // The number of pieces into which a pipelined plan cuts its data.
  int pieces = 8;
  // For plans with an algorithm for each level (`algorithm` is "A+B+..."): the number of parts that the data
  // is cut into, the number of parts that a level serves at a time, and the duration of each phase of a part,
  // in the order of PhasesOf() and in any unit. Empty `took`: durations in proportion to bytes. With "torus",
  // `took` has the phases of the first part, then those of the second one, ...
  int parts = 1;
  int at_once = 1;
  std::vector<double> took;
  // "torus": the number of levels, from the first one, that are axes of a torus, where each member has a link
  // to both of its neighbours.
  int axes = 0;
  auto operator<=>(const PlanRequest&) const = default;
};

}  // namespace chakra
