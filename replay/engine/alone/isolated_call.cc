#include "replay/engine/alone/isolated_call.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "replay/engine/symmetry/call_images.h"
#include "replay/nccl/fast_path.h"
#include "trace/base/heap4.h"

namespace chakra {
namespace {

// Larger exchanges are simulated by kinds of flows, which may round an end to the next picosecond.
constexpr size_t kExchangeByFlows = 256;
constexpr size_t kAhead = 4;  // how many ends of flows the loop prefetches ahead

struct DueWake {
  Time at;
  uint64_t order;
  CollectiveRunner::Wake wake;
  bool Before(const DueWake& o) const { return at != o.at ? at < o.at : order < o.order; }
};

bool IsExchangeOfChunks(const Plan& plan) {
  const std::vector<Step>& steps = plan.programs[0].steps;
  return IsExchange(plan) &&
         std::all_of(steps.begin(), steps.end(), [](const Step& s) { return s.count == 1; });
}

}  // namespace

bool RunIsolatedCall(Machine& machine, CollectiveRunner& runner, uint32_t members, Time begin,
                     const std::function<void(const CollectiveRunner::Ended&)>& ended) {
  Heap4<DueWake> due;
  uint64_t order = 0;
  uint32_t left = members;
  const auto drain = [&] {
    for (const CollectiveRunner::Ended& e : runner.ended()) {
      ended(e);
      --left;
    }
    runner.ended().clear();
    for (const CollectiveRunner::Wake& w : runner.wakes()) due.Push({w.at, order++, w});
    runner.wakes().clear();
  };
  for (uint32_t m = 0; m < members; ++m) runner.Arrive(0, m, m, begin);
  drain();
  std::vector<FlowEnd> ends;
  while (left > 0) {
    const Time own = due.empty() ? Time::Never() : due.top().at;
    const Time next = std::min(own, machine.NextEvent(own));
    if (next == Time::Never()) return false;
    ends.clear();
    machine.AdvanceTo(next, &ends);
    for (size_t i = 0; i < ends.size(); ++i) {
      if (i + 2 * kAhead < ends.size()) runner.Fetch(ends[i + 2 * kAhead]);
      if (i + kAhead < ends.size()) runner.FetchStep(ends[i + kAhead]);
      runner.OnFlow(ends[i], next);
    }
    drain();
    while (!due.empty() && due.top().at <= next) {
      const CollectiveRunner::Wake wake = due.top().wake;
      due.Pop();
      runner.OnWake(wake.active, wake.stream, next);
      drain();
    }
  }
  return true;
}

std::optional<ExchangeTime> TimeOfExchange(const Machine& machine, const CollectiveCosts& costs,
                                           const PlannedCall& call, uint64_t bytes,
                                           const std::vector<int>& members, std::vector<double>* peaks) {
  if (call.plan == nullptr || call.costs.parts != 1 || costs.step_overhead != Time::Zero() ||
      !IsExchangeOfChunks(*call.plan)) {
    return std::nullopt;
  }
  const uint64_t chunk = EqualChunk(call, bytes);
  if (chunk == kUnevenChunks) return std::nullopt;
  std::vector<ExchangeMessage> messages;
  for (size_t level = 0; level < call.costs.levels.size(); ++level) {
    const CallCosts::Level& l = call.costs.levels[level];
    if (l.cards > 1) return std::nullopt;
    messages.push_back({call.costs.OnWire(chunk, static_cast<int>(level)), l.latency, l.limit});
  }
  if (messages.empty())
    messages.assign(machine.topology().dimensions().size() + 1, {chunk, Time::Zero(), Bandwidth()});
  std::optional<ExchangeTime> time = machine.TimeOfExchange(members, messages, peaks);
  if (time && time->last != Time::Never()) time->last = call.costs.begin + time->last + call.costs.part_end;
  return time;
}

std::optional<StepTimes> TimeByImages(Machine& machine, const CollectiveCosts& costs, const PlannedCall& call,
                                      const Matching& matching, CollectivePlanner* planner) {
  const std::unique_ptr<Machine> apart = machine.MakeApart();
  if (apart == nullptr || call.plan == nullptr || call.costs.at_once > 1) return std::nullopt;
  CallImages images = ImagesOf(*apart, call, matching);
  const bool mirrored = images.mirrored();
  if (!images.one_rail && !mirrored) return std::nullopt;
  CollectiveRunner runner(apart.get(), costs, matching, true, planner);
  if (!runner.Prepare().ok()) return std::nullopt;
  if (images.one_rail) runner.GoByOneRail();
  for (const auto& [link, image] : images.links) apart->Unite(link, image);
  if (mirrored) runner.LeaveOut(std::move(images.left_out));
  const int root = matching.calls[0].root, members = call.plan->members;
  StepTimes times;
  const auto ended = [&](const CollectiveRunner::Ended& e) {
    const auto member = static_cast<int>(e.row);
    const bool is_root = member == root || (mirrored && member == CallImages::ImageOf(root, members));
    times.last = std::max(times.last, e.at);
    if (is_root) times.root = std::max(times.root, e.at);
  };
  if (!RunIsolatedCall(*apart, runner, static_cast<uint32_t>(members), Time::Zero(), ended))
    return std::nullopt;
  return times;
}

void SimulateApart(Machine* machine, const CollectiveCosts& costs, CollectivePlanner* planner,
                   const PlannedCall& planned, ApartCalls::Outcome* outcome) {
  const CollectiveCall& call = outcome->matching.calls[0];
  const std::vector<int>& members = outcome->matching.groups[0].members;
  const size_t n = members.size();
  if (machine->contention_free()) {
    std::vector<Time> ends = TimesOfSteps(*machine, costs, planned, call.bytes, members);
    if (std::find(ends.begin(), ends.end(), Time::Never()) != ends.end()) return;
    outcome->together = std::all_of(ends.begin(), ends.end(), [&](Time t) { return t == ends[0]; });
    outcome->ends = std::move(ends);
    return;
  }
  if (n > kExchangeByFlows) {
    const auto time = TimeOfExchange(*machine, costs, planned, call.bytes, members, &outcome->peaks);
    outcome->together = true;
    if (time && time->together && time->last != Time::Never()) outcome->ends.assign(n, time->last);
    if (time) return;
  }
  CollectiveRunner runner(machine, costs, outcome->matching, true, planner);
  if (!runner.Prepare().ok()) return;
  std::vector<Time> ends(n, Time::Never());
  const auto ended = [&](const CollectiveRunner::Ended& e) { ends[e.row] = e.at; };
  if (!RunIsolatedCall(*machine, runner, static_cast<uint32_t>(n), Time::Zero(), ended)) return;
  outcome->peaks = machine->Peaks();
  outcome->together = std::all_of(ends.begin(), ends.end(), [&](Time t) { return t == ends[0]; });
  if (std::find(ends.begin(), ends.end(), Time::Never()) == ends.end()) outcome->ends = std::move(ends);
}

}  // namespace chakra
