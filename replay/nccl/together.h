// The time of a call whose members all begin together, for pipelined plans whose members all see the same
// costs. It is computed step by step for one member instead of all, without building the plan.
#pragma once

#include <optional>
#include <vector>

#include "backends/machine.h"
#include "replay/collectives/registry.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/library.h"

namespace chakra {

// The time from the common start to the last member's end, equal to the replay of the plan to the picosecond.
// For `nvls` under one switch and for `double_binary_tree` over one block, on fabrics where flows do not
// delay each other; nullopt for everything else. `bytes` is comm_size.
std::optional<Time> TimeTogether(const MachineView& machine, const CollectiveCosts& costs,
                                 const PlanRequest& request, const CallCosts& call, uint64_t bytes,
                                 const std::vector<int>& members);

}  // namespace chakra
