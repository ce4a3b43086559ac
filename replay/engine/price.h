// Prices a call: its time when it is alone on the machine.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/machine.h"
#include "replay/collectives/registry.h"
#include "replay/engine/flow_log.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/library.h"

namespace chakra {

struct PricedCall {
  Time time;              // from the common begin to the last member's end, without the launch
  Time root_time;         // to the end of the member `root`
  std::string algorithm;  // "ring/simple", or the plan's name without a library
  std::string why;
  int channels = 1;
};

// Runs one call on `machine`, which must be idle; all members begin at once.
// `bytes` is comm_size, `members` are devices (>= 2). The fabric's own clock goes on
// from `now`; its end is added to it. `log`, where given, is of `machine`; then every flow is simulated,
// where a closed form would do too. `in_place`: each member is the device of its number; the fabric may then
// answer an exchange without its flows (backends/exchange_prices.h), and plans may run without events.
// `plans`, where given, keeps plans from call to call. Errors: an algorithm that cannot plan the collective
// on this group; an end past the longest time, 106 days.
absl::StatusOr<PricedCall> PriceCall(Machine& machine, const CollectiveCosts& costs, CollectiveType type,
                                     uint64_t bytes, int root, const std::vector<int>& members, Time* now,
                                     FlowLog* log = nullptr, bool in_place = false,
                                     PlanCache* plans = nullptr);

// The same on a fabric without contention that costs what `machine` does.
absl::StatusOr<Time> PriceUncontended(const MachineView& machine, const CollectiveCosts& costs,
                                      CollectiveType type, uint64_t bytes, int root,
                                      const std::vector<int>& members);

}  // namespace chakra
