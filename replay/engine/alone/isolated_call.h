// Isolated collective calls: each has the machine to itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "backends/machine.h"
#include "replay/engine/simulated/collective_runner.h"
#include "replay/engine/symmetry/apart_calls.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/planned_call.h"

namespace chakra {

// Runs call 0 of `runner`, which is on `machine`, until its members have ended. All members arrive at
// `begin`, member m with row m. Calls ended() for each member. Returns false if members are left but no event
// is.
bool RunIsolatedCall(Machine& machine, CollectiveRunner& runner, uint32_t members, Time begin,
                     const std::function<void(const CollectiveRunner::Ended&)>& ended);

// The time of a call in which each member sends the same amount to each other member at once, and then waits
// for all, if the fabric has a price for it (backends/exchange_prices.h); nullopt: any other call. `members`
// are ranks.
std::optional<ExchangeTime> TimeOfExchange(const Machine& machine, const CollectiveCosts& costs,
                                           const PlannedCall& call, uint64_t bytes,
                                           const std::vector<int>& members,
                                           std::vector<double>* peaks = nullptr);

// See ApartCalls::Simulate.
void SimulateApart(Machine* machine, const CollectiveCosts& costs, CollectivePlanner* planner,
                   const PlannedCall& planned, ApartCalls::Outcome* outcome);

// The time of a call whose members begin together and send around a ring in which each message has its links
// to itself; nullopt: any other call. Only for fabrics such as `fluid` (backends/apart.h), on which the
// messages of a connection leave one after another.
std::optional<Time> TimeOfRing(Machine& machine, const CollectiveCosts& costs, const PlannedCall& call,
                               uint64_t bytes, const std::vector<int>& members);

// By member: when it ends. For a call on a fabric whose flows never delay each other, if each node of the
// plan has its own steps. The result equals, to the picosecond, that of RunIsolatedCall() if all members
// begin at zero, but needs no events. Empty: any other call, or a call that never ends.
std::vector<Time> TimesOfSteps(const MachineView& machine, const CollectiveCosts& costs,
                               const PlannedCall& call, uint64_t bytes, const std::vector<int>& members);

struct StepTimes {
  Time last;  // from the common start to the end of the last member
  Time root;  // from the common start to the end of member `root`
};

// The times of call 0 of `matching`, whose members all begin together, if it has symmetric flows of which
// only some need simulation (call_images.h). nullopt: each flow must be simulated, or the call never ends.
// `planner` plans on `machine` with `costs`.
std::optional<StepTimes> TimeByImages(Machine& machine, const CollectiveCosts& costs, const PlannedCall& call,
                                      const Matching& matching, CollectivePlanner* planner);

// The result of TimesOfSteps() for the last member and the root; nullopt: TimesOfSteps() is empty.
std::optional<StepTimes> TimeOfSteps(const MachineView& machine, const CollectiveCosts& costs,
                                     const PlannedCall& call, uint64_t bytes, int root,
                                     const std::vector<int>& members);

}  // namespace chakra
