// Prices calls that run one algorithm on each level of their group, part after part.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/machine.h"
#include "replay/collectives/request.h"
#include "replay/nccl/collective_costs.h"
#include "trace/base/units.h"

namespace chakra {

// Sets request->took from the costs of isolated messages on `machine`. request->algorithm must name an
// algorithm for each of request->blocks, or "torus"; `members` are devices in the order of the blocks;
// `bytes` is comm_size. If flows do not delay each other and all members see the same costs, returns the time
// from the common start to the common end, equal to the replay of the plan to the picosecond; else nullopt.
// On a torus, bytes that do not fill the chunks of the plan count as the next multiple.
std::optional<Time> PricePhases(const MachineView& machine, const CollectiveCosts& costs, uint64_t bytes,
                                const std::vector<int>& members, PlanRequest* request);

}  // namespace chakra
