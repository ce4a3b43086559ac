// Isolated collective calls: their flows share no link with other flows. Such a call is simulated once, by
// itself; the calls symmetric to it are only counted.
//
// On a fabric such as `fluid`, flows that share no link do not change each other's times. A training step has
// thousands of symmetric calls: they have the same plan and bytes, in groups with symmetric paths, on links
// that carry no other group's flows. All of them end as the first one does, if all members begin together.
//
// Three conditions make this exact:
// - The links of a group carry only its own flows. This is determined from all plans and messages before the
//   replay.
// - No rank is in two calls of a group at once. This is determined from the rank's graph (serial_groups.h).
// - All members end at the same instant, so that nothing is under way when the next call begins; or there is
//   no next call.
//
// On a fabric such as `analytical`, no flow changes another's times, so the conditions always hold. There a
// call runs step by step without events (TimesOfSteps() in isolated_call.h), and groups are symmetric if the
// paths of their pairs have the same links.
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
    std::vector<Time> ends;     // by member, counted from the common start
    bool together = false;      // whether all ends are equal
    std::vector<int> members;   // of the call that was simulated
    std::vector<double> peaks;  // from ApartFabrics::Peaks()
    Matching matching;          // of that call only
  };
  // Simulates the only call of outcome->matching on an idle `machine`, and fills the remaining fields of
  // `outcome`. Leaves `ends` empty if some member never ends, or if the call must be simulated among the
  // others after all.
  using Simulate = void (*)(Machine* machine, const CollectiveCosts& costs, CollectivePlanner* planner,
                            const PlannedCall& planned, Outcome* outcome);

  // All arguments must outlive this object; `planner` plans on `machine` with `costs`.
  ApartCalls(Machine* machine, const CollectiveCosts& costs, const Matching& matching,
             CollectivePlanner* planner)
      : machine_(machine),
        costs_(costs),
        matching_(matching),
        planner_(planner),
        paths_(*machine, matching) {}

  // Finds the groups whose calls are isolated. `serial`: by group, as from SerialGroups(). `plan_of`: by
  // call; null: no flows. Without a call of Find(), no group is isolated.
  void Find(const std::vector<bool>& serial, const std::vector<const PlannedCall*>& plan_of,
            Simulate simulate);

  // Whether Of() may return an outcome for the call.
  bool Has(uint32_t call) const {
    return !apart_.empty() && apart_[matching_.calls[call].group] && can_[call];
  }
  // When the members of a call end if all begin together. Null: the call must be simulated among the others.
  const Outcome* Of(uint32_t call, const PlannedCall& planned);
  // Counts the flows of a call that ended as `outcome` says. Null: the call was answered in closed form, on a
  // fabric without contention.
  void Count(uint32_t call, const PlannedCall& planned, const Outcome* outcome, uint64_t times);
  // Reports the counted flows to the machine.
  void Report();

 private:
  using Call = std::tuple<const PlannedCall*, uint32_t, uint64_t>;  // the plan, the group, and the bytes
  struct Use {
    const PlannedCall* planned;
    uint32_t call;
    const Outcome* outcome;
    uint64_t times = 0;
  };

  // Appends the links of a call's flows. Returns false if flows may also take other links, or are spread over
  // several NICs.
  bool LinksOf(uint32_t call, const PlannedCall& planned, std::vector<Hop>* links);
  // Whether the flows of all calls in `of_plans` take fixed paths: no network, and no message spread over
  // several NICs.
  bool HasAllLinks(const std::vector<uint32_t>& of_plans,
                   const std::vector<const PlannedCall*>& plan_of) const;
  // Finds the users of each link, and removes groups that share a link from apart_.
  void FindShared(const std::vector<uint32_t>& unit_of, const std::vector<uint32_t>& of_plans,
                  const std::vector<const PlannedCall*>& plan_of);
  // A key that is equal for symmetric calls.
  std::string KeyOf(uint32_t call, const PlannedCall& planned);
  // The part of KeyOf() for the paths of a plan in a group, if no flow changes another's times.
  std::string PathsOf(uint32_t group, const PlannedCall& planned);
  Outcome Simulated(uint32_t call, const PlannedCall& planned);

  Machine* machine_;
  CollectiveCosts costs_;
  const Matching& matching_;
  CollectivePlanner* planner_;
  Simulate simulate_ = nullptr;
  bool free_ = false;           // whether no flow changes another's times
  std::vector<bool> apart_;     // by group: whether its calls are isolated; empty: none are
  std::vector<bool> can_;       // by call: its plan may end all members together, or it is the group's last
                                // call
  std::vector<uint32_t> last_;  // by group: its last call; kNoRow: another group has the same ranks
  CallPaths paths_;
  absl::flat_hash_map<Call, const Outcome*> known_;
  std::map<std::string, std::unique_ptr<Outcome>> outcomes_;
  size_t ends_ = 0;                   // number of ends in all outcomes
  std::set<const Plan*> apart_ends_;  // plans whose members do not all end together
  absl::flat_hash_map<Call, size_t> use_of_;
  std::vector<Use> uses_;
};

}  // namespace chakra
