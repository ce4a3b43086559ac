#include "replay/engine/symmetry/call_paths.h"

namespace chakra {

std::vector<int> CallPaths::PeersOf(const Program& program) {
  std::vector<int> peers;
  for (const Step& step : program.steps) {
    if (IsSend(step.op)) peers.push_back(step.peer);
  }
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  return peers;
}

const std::vector<CallPaths::Pair>& CallPaths::PairsOf(const Plan& plan) {
  std::vector<Pair>& pairs = pairs_[&plan];
  if (!pairs.empty()) return pairs;
  ForEachPair(plan, [&pairs](int from, int to) {
    pairs.push_back({from, to});
    return true;
  });
  return pairs;
}

CallPath CallPaths::Of(uint32_t group, const PlannedCall& planned, int from, int to) {
  const Plan& plan = *planned.plan;
  const std::vector<int>& members = matching_.groups[group].members;
  CallPath path;
  path.src = EndpointOf(machine_, plan, members, from);
  path.dst = EndpointOf(machine_, plan, members, to);
  path.level = machine_.Level(path.src, path.dst);
  path.from = static_cast<uint32_t>(from);
  path.to = static_cast<uint32_t>(to);
  const std::vector<CallCosts::Level>& levels = planned.costs.levels;
  if (levels.empty() || from >= plan.members || to >= plan.members) return path;
  path.cards = levels[static_cast<size_t>(path.level)].cards;
  if (path.cards > 1) path.lanes = &lanes_.Of(group, planned.costs);
  return path;
}

}  // namespace chakra
