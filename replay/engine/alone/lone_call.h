// A collective call that has a machine to itself.
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

// Runs call 0 of `runner`, which is on `machine`, until its members have ended; all of them arrive at
// `begin`, member m with row m. Calls ended() for each. False: nothing happens any more though members are
// left.
bool RunLoneCall(Machine& machine, CollectiveRunner& runner, uint32_t members, Time begin,
                 const std::function<void(const CollectiveRunner::Ended&)>& ended);

// The time of a call in which each member sends the same to each other at once, and then waits for all, where
// the fabric knows that time (backends/exchange_prices.h); nullopt: any other. `members` are ranks.
std::optional<ExchangeTime> TimeOfExchange(const Machine& machine, const CollectiveCosts& costs,
                                           const PlannedCall& call, uint64_t bytes,
                                           const std::vector<int>& members,
                                           std::vector<double>* peaks = nullptr);

// See ApartCalls::Simulate.
void SimulateApart(Machine* machine, const CollectiveCosts& costs, CollectivePlanner* planner,
                   const PlannedCall& planned, ApartCalls::Outcome* outcome);

// The time of a call whose members, all begun together, send round a ring in which each message has its links
// to itself; nullopt: any other call. For fabrics such as `fluid` (backends/apart.h), on which the messages
// of a connection leave one after another.
std::optional<Time> TimeOfRing(Machine& machine, const CollectiveCosts& costs, const PlannedCall& call,
                               uint64_t bytes, const std::vector<int>& members);

// When each member ends of a call on a fabric whose flows never delay each other, where each node of the plan
// has steps of its own: to the picosecond what RunLoneCall() finds for all that begin at zero, without
// events. Empty: any other call, and one that never ends.
std::vector<Time> TimesOfSteps(const MachineView& machine, const CollectiveCosts& costs,
                               const PlannedCall& call, uint64_t bytes, const std::vector<int>& members);

struct StepTimes {
  Time last;  // from the common begin to the end of the last member
  Time root;  // to the end of the member `root`
};

// The times of call 0 of `matching`, all of whose members begin together, where some of its flows stand for
// others (call_images.h). nullopt: each flow must be simulated, or the call never ends. `planner` plans on
// `machine` with `costs`.
std::optional<StepTimes> TimeByImages(Machine& machine, const CollectiveCosts& costs, const PlannedCall& call,
                                      const Matching& matching, CollectivePlanner* planner);

// The same as TimesOfSteps(), of the members that matter to a caller; nullopt: TimesOfSteps() is empty.
std::optional<StepTimes> TimeOfSteps(const MachineView& machine, const CollectiveCosts& costs,
                                     const PlannedCall& call, uint64_t bytes, int root,
                                     const std::vector<int>& members);

}  // namespace chakra
