// Collective calls whose flows meet no flows of others: simulated once, apart, and counted for the rest.
//
// On a fabric such as `fluid`, flows that share no link do not change each other's times. A training step has
// thousands of calls that are one another's image: the same plan and bytes, in groups that lie alike, on
// links that no other group's flows cross. All of them end as the first does, if all members begin together.
//
// Three conditions make this exact. The links of a group are its own: that is found from all plans and
// messages before the replay. No rank is in two calls of a group at once: its graph says so
// (serial_groups.h). And all members end at the same instant, so that the next call finds nothing under way;
// or there is no next call.
//
// On a fabric such as `analytical` no flow changes another's times, so that the conditions always hold. There
// a call goes step by step without events (TimesOfSteps() in lone_call.h); groups lie alike if their pairs'
// paths have the same links.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/machine.h"
#include "replay/engine/match/match.h"
#include "replay/engine/symmetry/call_paths.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/planned_call.h"
#include "replay/nccl/planner.h"

namespace chakra {

class ApartCalls {
 public:
  struct Outcome {
    std::vector<Time> ends;     // by member, after the common begin
    bool together = false;      // all are the same
    std::vector<int> members;   // of the call that was simulated
    std::vector<double> peaks;  // as ApartFabrics::Peaks()
    Matching matching;          // of that call alone
  };
  // Simulates the one call of outcome->matching on an idle `machine`, and sets what is not set; no ends if
  // some member never ends, or the call must be simulated among the others after all.
  using Simulate = void (*)(Machine* machine, const CollectiveCosts& costs, CollectivePlanner* planner,
                            const PlannedCall& planned, Outcome* outcome);

  // All must outlive this; `planner` plans on `machine` with `costs`.
  ApartCalls(Machine* machine, const CollectiveCosts& costs, const Matching& matching,
             CollectivePlanner* planner)
      : machine_(machine),
        costs_(costs),
        matching_(matching),
        planner_(planner),
        paths_(*machine, matching) {}

  // Finds the groups whose flows meet no others. `serial`: by group, as SerialGroups() has it. `plan_of`: by
  // call; null: no flows. Without this call there are none.
  void Find(const std::vector<bool>& serial, const std::vector<const PlannedCall*>& plan_of,
            Simulate simulate);

  // Whether Of() may know the call.
  bool Has(uint32_t call) const {
    return !apart_.empty() && apart_[matching_.calls[call].group] && can_[call];
  }
  // When the members of a call end that begin together. Null: the call must be simulated among the others.
  const Outcome* Of(uint32_t call, const PlannedCall& planned);
  // Counts the flows of a call that ended as `outcome` says; null: in closed form, on a fabric without
  // contention.
  void Count(uint32_t call, const PlannedCall& planned, const Outcome* outcome, uint64_t times);
  // Tells the machine what was counted.
  void Report();

 private:
  using Call = std::tuple<const PlannedCall*, uint32_t, uint64_t>;  // the plan, the group, and the bytes
  struct Use {
    const PlannedCall* planned;
    uint32_t call;
    const Outcome* outcome;
    uint64_t times = 0;
  };

  // Appends the links of a call's flows. False: flows may take other links, too, or several cards.
  bool LinksOf(uint32_t call, const PlannedCall& planned, std::vector<Hop>* links);
  // Whether all flows of the replay are of groups of the same ranks, on paths without choice.
  bool HasAllLinks(const std::vector<uint32_t>& of_plans,
                   const std::vector<const PlannedCall*>& plan_of) const;
  // Finds who uses each link, and takes the groups that share one out of apart_.
  void FindShared(const std::vector<uint32_t>& unit_of, const std::vector<uint32_t>& of_plans,
                  const std::vector<const PlannedCall*>& plan_of);
  // Equal for calls that are one another's image.
  std::string KeyOf(uint32_t call, const PlannedCall& planned);
  // What KeyOf() says of the paths of a plan in a group, where no flow changes another's times.
  std::string PathsOf(uint32_t group, const PlannedCall& planned);
  Outcome Simulated(uint32_t call, const PlannedCall& planned);

  Machine* machine_;
  CollectiveCosts costs_;
  const Matching& matching_;
  CollectivePlanner* planner_;
  Simulate simulate_ = nullptr;
  bool free_ = false;           // no flow changes another's times
  std::vector<bool> apart_;     // by group; empty: none is
  std::vector<bool> can_;       // by call: its plan may end all members together, or it is the last
  std::vector<uint32_t> last_;  // by group: its last call; kNoRow: another group has its ranks, too
  CallPaths paths_;
  absl::flat_hash_map<Call, const Outcome*> known_;
  std::map<std::string, std::unique_ptr<Outcome>> outcomes_;
  size_t ends_ = 0;                   // that they keep
  std::set<const Plan*> apart_ends_;  // whose members do not all end together
  absl::flat_hash_map<Call, size_t> use_of_;
  std::vector<Use> uses_;
};

}  // namespace chakra
