// How a call runs.
#pragma once

#include <optional>
#include <string>

#include "replay/collectives/plan.h"
#include "replay/nccl/library.h"
#include "trace/base/units.h"

namespace chakra {

// How to run calls of one kind, size and group. Lives as long as its planner.
struct PlannedCall {
  const Plan* plan = nullptr;  // null if only `together` is needed
  // See TimeTogether(). Set by planners for isolated calls, if all members of the plan end at the same time.
  std::optional<Time> together;
  CallCosts costs;
  std::string algorithm;  // "ring", or "ring/simple" of a library
  std::string why;        // why the library chose it; empty without a library
  int channels = 1;       // set with a library, and for programs from files
};

}  // namespace chakra
