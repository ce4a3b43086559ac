// How a call is run.
#pragma once

#include <optional>
#include <string>

#include "replay/collectives/plan.h"
#include "replay/nccl/library.h"
#include "trace/base/units.h"

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

}  // namespace chakra
