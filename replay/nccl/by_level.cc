#include "replay/nccl/by_level.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "replay/collectives/levels.h"
#include "replay/nccl/fast_path.h"

namespace chakra {
namespace {

constexpr double kExact = 9007199254740992;  // 2^53: sums of whole numbers below it are exact

class Phases {
 public:
  Phases(const MachineView& machine, const CollectiveCosts& costs, const std::vector<int>& members,
         const PlanRequest& request)
      : machine_(machine), costs_(costs), members_(members), request_(request) {}

  // Whether each message so far costs all members the same.
  bool alike() const { return alike_; }

  // The time of a phase in which a member holds `held` chunks of `unit` bytes when the phase begins.
  Time Of(const LevelPhase& phase, LevelAlgorithm algorithm, uint64_t held, uint64_t unit) {
    level_ = static_cast<size_t>(phase.level);
    stride_ = 1;
    for (size_t l = 0; l < level_; ++l) stride_ *= static_cast<size_t>(request_.blocks[l]);
    const auto k = static_cast<uint64_t>(request_.blocks[level_]);
    if (k == 1) return Time::Zero();
    Time time = costs_.step_overhead;
    switch (phase.kind) {
      case PhaseKind::kScatter:
        return time + Scatter(algorithm, held, unit);
      case PhaseKind::kGather:
        return time + Gather(algorithm, held, unit);
      case PhaseKind::kReduce:
        return time + Scatter(algorithm, held, unit) + Gather(algorithm, held / k, unit);
      case PhaseKind::kExchange:
        if (algorithm != LevelAlgorithm::kRing) return time + AtOnce(held / k * unit);
        return time + Step(1, held / k * unit) * static_cast<int64_t>(k * (k - 1) / 2);
    }
    return time;
  }

 private:
  int64_t Size() const { return request_.blocks[level_]; }

  // The cost of a message from each member to the one whose coordinate is larger by `distance` or, with
  // `bit`, differs in that bit.
  FlowCost Message(int64_t distance, uint64_t bytes, bool bit = false) {
    const auto k = static_cast<size_t>(Size());
    FlowCost first;
    const size_t all = machine_.contention_free() ? members_.size() : 1;
    for (size_t m = 0; m < all; ++m) {
      const size_t c = m / stride_ % k, d = static_cast<size_t>(distance);
      const size_t to = m - c * stride_ + (bit ? c ^ d : (c + d) % k) * stride_;
      const FlowCost cost = machine_.Cost(members_[m], members_[to], bytes);
      if (m == 0) first = cost;
      alike_ = alike_ && cost.received() == first.received();
    }
    return first;
  }
  Time Step(int64_t distance, uint64_t bytes, bool bit = false) {
    return costs_.step_overhead + Message(distance, bytes, bit).received();
  }

  // The time of a message to each other member, all at once. On fabrics where flows delay each other, the
  // messages of one port follow each other.
  Time AtOnce(uint64_t bytes) {
    Time last;
    for (int64_t d = 1; d < Size(); ++d) last = std::max(last, Message(d, bytes).received());
    const std::vector<TopologyDimension>& dimensions = machine_.topology().dimensions();
    if (!machine_.contention_free() &&
        dimensions[std::min(level_, dimensions.size() - 1)].kind == TopologyDimension::Kind::kSwitch) {
      last += Message(1, bytes).transfer * (Size() - 2);
    }
    return costs_.step_overhead + last;
  }

  Time Scatter(LevelAlgorithm algorithm, uint64_t held, uint64_t unit) {
    const uint64_t slice = held / static_cast<uint64_t>(Size()) * unit;
    if (algorithm == LevelAlgorithm::kDirect) return AtOnce(slice) + ReduceTime(costs_, slice);
    if (algorithm == LevelAlgorithm::kRing)
      return (Step(1, slice) + ReduceTime(costs_, slice)) * (Size() - 1);
    Time time;
    uint64_t bytes = held * unit;
    for (int64_t d = 1; d < Size(); d *= 2) {
      bytes /= 2;
      time += Step(d, bytes, true);
      if (2 * d < Size()) time += ReduceTime(costs_, StepOp::kRecvReduceHalf, bytes);
    }
    return time;
  }

  Time Gather(LevelAlgorithm algorithm, uint64_t held, uint64_t unit) {
    uint64_t bytes = held * unit;
    if (algorithm == LevelAlgorithm::kDirect) return AtOnce(bytes);
    if (algorithm == LevelAlgorithm::kRing) return Step(1, bytes) * (Size() - 1);
    Time time;
    for (int64_t d = Size() / 2; d >= 1; d /= 2) {
      time += Step(d, bytes, true);
      bytes *= 2;
    }
    return time;
  }

  const MachineView& machine_;
  const CollectiveCosts& costs_;
  const std::vector<int>& members_;
  const PlanRequest& request_;
  size_t level_ = 0, stride_ = 1;
  bool alike_ = true;
};

}  // namespace

namespace {

// The times of the phases of a part that visits the levels in this order. Adds their levels to `level_of`,
// and the times to request->took.
std::vector<double> TimesOf(const std::vector<int>& order, const std::vector<LevelAlgorithm>& algorithms,
                            uint64_t unit, Phases* phases, std::vector<int>* level_of, PlanRequest* request) {
  const bool gathers = request->type == CollectiveType::kAllGather;
  uint64_t held = gathers ? 1 : static_cast<uint64_t>(request->members);
  std::vector<double> took;
  for (LevelPhase visit : PhasesOf(request->type, static_cast<int>(order.size()))) {
    visit.level = order[static_cast<size_t>(visit.level)];
    const auto level = static_cast<size_t>(visit.level);
    took.push_back(static_cast<double>(phases->Of(visit, algorithms[level], held, unit).picos()));
    level_of->push_back(visit.level);
    if (visit.kind == PhaseKind::kScatter) held /= static_cast<uint64_t>(request->blocks[level]);
    if (visit.kind == PhaseKind::kGather) held *= static_cast<uint64_t>(request->blocks[level]);
  }
  request->took.insert(request->took.end(), took.begin(), took.end());
  return took;
}

std::optional<Time> EndOf(const std::vector<PhaseVisit>& visits) {
  double end = 0;
  for (const PhaseVisit& visit : visits) end = std::max(end, visit.end);
  if (end >= kExact) return std::nullopt;
  return Time::Picos(static_cast<int64_t>(end));
}

// On a torus, sizes that are no multiple of the plan's chunks are priced as the next multiple.
std::optional<Time> PriceTorus(const MachineView& machine, const CollectiveCosts& costs, uint64_t bytes,
                               const std::vector<int>& members, PlanRequest* request) {
  const int levels = static_cast<int>(request->blocks.size());
  const std::vector<TorusRoute> routes = RoutesOnTorus(levels, request->axes);
  const bool gathers = request->type == CollectiveType::kAllGather;
  const uint64_t chunks = routes.size() * (gathers ? 1 : static_cast<uint64_t>(request->members));
  const uint64_t unit = (bytes + chunks - 1) / chunks;
  const std::vector<LevelAlgorithm> rings(request->blocks.size(), LevelAlgorithm::kRing);
  Phases phases(machine, costs, members, *request);
  std::vector<std::vector<double>> took;
  std::vector<std::vector<int>> place_of;
  for (const TorusRoute& route : routes) {
    std::vector<int> level_of;
    took.push_back(TimesOf(route.order, rings, unit, &phases, &level_of, request));
    for (int& level : level_of) level = TorusPlace(route, level, request->axes);
    place_of.push_back(std::move(level_of));
  }
  if (!machine.contention_free() || !phases.alike()) return std::nullopt;
  return EndOf(SchedulePhases(place_of, took, 2 * levels, 1, ServeFirst::kFirstCome));
}

}  // namespace

std::optional<Time> PricePhases(const MachineView& machine, const CollectiveCosts& costs, uint64_t bytes,
                                const std::vector<int>& members, PlanRequest* request) {
  if (request->algorithm == "torus") return PriceTorus(machine, costs, bytes, members, request);
  const auto algorithms = ParseLevelAlgorithms(request->algorithm);
  const int levels = static_cast<int>(request->blocks.size());
  if (!algorithms || algorithms->size() != request->blocks.size())
    return std::nullopt;  // the plan's builder reports the error
  std::vector<int> upwards(request->blocks.size());
  std::iota(upwards.begin(), upwards.end(), 0);
  const bool gathers = request->type == CollectiveType::kAllGather;
  const uint64_t chunks =
      static_cast<uint64_t>(request->parts) * (gathers ? 1 : static_cast<uint64_t>(request->members));
  Phases phases(machine, costs, members, *request);
  std::vector<int> level_of;
  const std::vector<double> took = TimesOf(upwards, *algorithms, bytes / chunks, &phases, &level_of, request);
  if (!machine.contention_free() || !phases.alike() || bytes % chunks != 0) return std::nullopt;
  const auto parts = static_cast<size_t>(request->parts);
  return EndOf(SchedulePhases(std::vector(parts, level_of), std::vector(parts, took), levels,
                              std::min(request->at_once, request->parts), ServeFirst::kFirstCome));
}

}  // namespace chakra
