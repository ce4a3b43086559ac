// A ring whose messages have their links to themselves: TimeOfRing().
//
// Member m sends message s when it has sent s - 1 and received s - 1; a message leaves when the previous one
// has left. So all times of a step follow from those of the previous step. The links of a machine's nodes
// repeat: if the costs of the ring's links have a period of k, so have all times, and k members are enough to
// compute.
#include <algorithm>
#include <memory>

#include "replay/engine/alone/isolated_call.h"
#include "replay/engine/symmetry/call_paths.h"
#include "replay/nccl/fast_path.h"

namespace chakra {
namespace {

struct RingLink {
  Time transfer;  // while a message occupies its links
  Time rest;      // from then until the message is received
  bool operator==(const RingLink&) const = default;
};

// Whether the plan's only stream sends and receives alternately, on one connection.
bool IsRing(const Plan& plan) {
  if (!plan.rotational || plan.input.count > 0 || plan.output.count > 0 || plan.members < 3) return false;
  const Program& program = plan.programs[0];
  if (program.streams.size() != 1 || program.connections != 1 || program.steps.size() % 2 != 0) return false;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (i % 2 == 0 ? step.op != StepOp::kSend : !IsReceive(step.op)) return false;
    if (step.count != 1 || step.peer != (i % 2 == 0 ? 1 : plan.members - 1)) return false;
  }
  return true;
}

// The links of the ring, by the member at which they begin. Empty: messages share links, or the parts of a
// spread message differ.
std::vector<RingLink> LinksOfRing(Machine& machine, const PlannedCall& call, uint64_t chunk,
                                  const std::vector<int>& members) {
  Matching matching;
  matching.groups.push_back({"", members, static_cast<int>(members.size()), {}, {}});
  CallPaths paths(machine, matching);
  const size_t n = members.size();
  std::vector<uint8_t> used(machine.topology().links());
  std::vector<Hop> hops;
  std::vector<RingLink> links;
  for (size_t m = 0; m < n; ++m) {
    const CallPath path = paths.Of(0, call, static_cast<int>(m), static_cast<int>(m + 1 == n ? 0 : m + 1));
    const auto& levels = call.costs.levels;
    const CallCosts::Level none{}, &level = levels.empty() ? none : levels[static_cast<size_t>(path.level)];
    const NodeLanes* const over = path.lanes;
    const CardShare share(level.limit, path.cards, over == nullptr ? 1 : over->Cards(path.from, path.to));
    const uint64_t wire = over != nullptr  ? share.Of(chunk, 0)
                          : levels.empty() ? chunk
                                           : call.costs.OnWire(chunk, path.level);
    for (int card = 0; card < share.cards; ++card) {
      const auto [one, other] =
          over == nullptr ? std::pair(path.src, path.dst) : over->Ends(path.from, path.to, card);
      hops.clear();
      if (one == other || !machine.LinksBetween(one, other, &hops)) return {};
      for (const Hop& hop : hops) {
        if (used[hop.link]++ != 0) return {};
      }
      const FlowCost cost = machine.Cost(one, other, wire, share.limit);
      const Time waits = over == nullptr
                             ? Time::Zero()
                             : paths.lanes().DelayOf(path.src, path.dst, one, other, wire, share.limit);
      const RingLink link = {cost.transfer, cost.latency + level.latency + waits};
      if (cost.received() == Time::Never()) return {};
      if (card == 0) links.push_back(link);
      if (links.back() != link) return {};
    }
  }
  return links;
}

// The shortest period of the links that divides their number.
size_t PeriodOf(const std::vector<RingLink>& links) {
  const size_t n = links.size();
  for (size_t k = 1; k < n; ++k) {
    if (n % k != 0) continue;
    bool same = true;
    for (size_t i = k; i < n && same; ++i) same = links[i] == links[i - k];
    if (same) return k;
  }
  return n;
}

}  // namespace

std::optional<Time> TimeOfRing(Machine& machine, const CollectiveCosts& costs, const PlannedCall& call,
                               uint64_t bytes, const std::vector<int>& members) {
  if (call.plan == nullptr || call.costs.at_once > 1 || !IsRing(*call.plan) || machine.MakeApart() == nullptr)
    return std::nullopt;
  const uint64_t chunk = EqualChunk(call, bytes);
  if (chunk == kUnevenChunks) return std::nullopt;
  const std::vector<RingLink> links = LinksOfRing(machine, call, chunk, members);
  if (links.empty()) return std::nullopt;
  const size_t k = PeriodOf(links);
  std::vector<Time> at(k, call.costs.begin), free(k), received(k);
  const std::vector<Step>& steps = call.plan->programs[0].steps;
  for (int part = 0; part < call.costs.parts; ++part) {
    for (size_t s = 0; s < steps.size(); s += 2) {
      for (size_t m = 0; m < k; ++m) {
        at[m] += costs.step_overhead;
        free[m] = std::max(at[m], free[m]) + links[m].transfer;
        received[m + 1 == k ? 0 : m + 1] = free[m] + links[m].rest;
      }
      const Time added = ReduceTime(costs, steps[s + 1].op, chunk);
      for (size_t m = 0; m < k; ++m) at[m] = std::max(at[m], received[m]) + added;
    }
    for (Time& t : at) t += costs.step_overhead + call.costs.part_end;
  }
  return *std::max_element(at.begin(), at.end());
}

}  // namespace chakra
