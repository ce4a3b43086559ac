// Calls that run one algorithm on each level of their group, part after part.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/machine.h"
#include "replay/collectives/request.h"
#include "replay/nccl/collective_costs.h"
#include "trace/base/units.h"

namespace chakra {

// Sets request->took from what a message alone costs on `machine`, where request->algorithm names one for
// each of request->blocks, `members` are devices in the order of the blocks, and `bytes` is comm_size.
// Returns, where flows do not delay each other and all members see the same costs, the time from a common
// begin to the common end, equal to the picosecond to the replay of the plan.
std::optional<Time> PricePhases(const MachineView& machine, const CollectiveCosts& costs, uint64_t bytes,
                                const std::vector<int>& members, PlanRequest* request);

}  // namespace chakra
