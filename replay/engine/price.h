// Prices a call: its time on a machine without other traffic.
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
  Time time;              // from the common start to the end of the last member, without the launch
  Time root_time;         // from the common start to the end of member `root`
  std::string algorithm;  // "ring/simple", or the plan's name without a library
  std::string why;
  int channels = 1;
};

// Runs one call on `machine`, which must be idle; all members begin at once. `bytes` is comm_size; `members`
// are devices (>= 2). The call begins at `*now` on the fabric's clock; its time is added to `*now`. `log`, if
// not null, is the log of `machine`; each flow is then simulated, even where a closed form exists.
// `in_place`: member i is on device i. The fabric may then price an exchange without its flows
// (backends/exchange_prices.h), and plans may run without events. `plans`, if not null, keeps plans from call
// to call. Errors: an algorithm that cannot plan the collective on this group; an end past the longest
// simulated time, 106 days.
absl::StatusOr<PricedCall> PriceCall(Machine& machine, const CollectiveCosts& costs, CollectiveType type,
                                     uint64_t bytes, int root, const std::vector<int>& members, Time* now,
                                     FlowLog* log = nullptr, bool in_place = false,
                                     PlanCache* plans = nullptr);

// PriceCall() on a fabric without contention that has the path costs of `machine`.
absl::StatusOr<Time> PriceUncontended(const MachineView& machine, const CollectiveCosts& costs,
                                      CollectiveType type, uint64_t bytes, int root,
                                      const std::vector<int>& members);

}  // namespace chakra
