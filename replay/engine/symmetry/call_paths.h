// Which nodes of a plan exchange messages in a call, between which end points, and over which links.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "backends/machine.h"
#include "replay/collectives/plan.h"
#include "replay/engine/match/match.h"
#include "replay/engine/symmetry/card_lanes.h"
#include "replay/nccl/planned_call.h"

namespace chakra {

// The end point of a node of a plan, which is a member or a switch, in the machine.
inline int EndpointOf(const MachineView& machine, const Plan& plan, const std::vector<int>& members,
                      int node) {
  if (node < plan.members) return members[static_cast<size_t>(node)];
  const PlanSwitch& s = plan.switches[static_cast<size_t>(node - plan.members)];
  return machine.SwitchBetween(members[static_cast<size_t>(s.a)], members[static_cast<size_t>(s.b)]);
}

// The path of messages from one node of a plan to another.
struct CallPath {
  int src = 0, dst = 0;              // end points
  int level = 0;                     // of the machine that the path crosses
  int cards = 1;                     // number of NICs that a message is planned to be spread over
  const NodeLanes* lanes = nullptr;  // of a spread message; null: the message is not spread
  uint32_t from = 0, to = 0;         // nodes of the plan

  std::pair<int, int> OnRail(int rail) const { return lanes->OnRail(from, to, rail); }
};

class CallPaths {
 public:
  using Pair = std::pair<int, int>;  // of nodes of a plan: sender and receiver

  // The arguments must outlive the object.
  CallPaths(const MachineView& machine, const Matching& matching)
      : machine_(machine), matching_(matching), lanes_(machine, matching) {}

  // Calls fn(from, to) for the nodes of a plan that exchange messages, each pair once, until fn returns
  // false. Returns whether fn always returned true.
  template <typename Fn>
  static bool ForEachPair(const Plan& plan, const Fn& fn) {
    std::vector<int> peers;  // numbered as in the steps of a node
    for (int node = 0; node < plan.nodes(); ++node) {
      if (node == 0 || !plan.rotational) peers = PeersOf(plan.program(node));
      for (const int peer : peers) {
        if (!fn(node, plan.rotational ? (node + peer) % plan.members : peer)) return false;
      }
    }
    return true;
  }
  // The pairs of ForEachPair() as a list, which is cached.
  const std::vector<Pair>& PairsOf(const Plan& plan);
  // The number of pairs, or an upper bound for rotational plans.
  size_t CountPairs(const Plan& plan) {
    if (!plan.rotational) return PairsOf(plan).size();
    return size_t{plan.programs[0].connections} * static_cast<size_t>(plan.members);
  }

  CallPath Of(uint32_t group, const PlannedCall& planned, int from, int to);
  GroupLanes& lanes() { return lanes_; }

 private:
  static std::vector<int> PeersOf(const Program& program);

  const MachineView& machine_;
  const Matching& matching_;
  GroupLanes lanes_;
  std::map<const Plan*, std::vector<Pair>> pairs_;
};

}  // namespace chakra
