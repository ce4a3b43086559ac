#include "replay/engine/price.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "backends/exchange_prices.h"
#include "replay/collectives/accounting.h"
#include "replay/engine/collective_runner.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/fast_path.h"
#include "replay/nccl/planned_call.h"
#include "replay/nccl/planner.h"
#include "trace/base/heap4.h"

namespace chakra {
namespace {

// Every flow as if it were alone.
class Uncontended final : public Fabric, public PathPrices {
 public:
  explicit Uncontended(const PathPrices& like) : like_(like) {}

  FlowId Start(const Flow& flow, Time now) override {
    const FlowCost cost = like_.Cost(flow.src, flow.dst, flow.OnLinks());
    if (flow.want_sent) ends_.Push({now + cost.sent, order_++, flow.tag, FlowEnd::kSent});
    ends_.Push({now + cost.received() + flow.delay, order_++, flow.tag, FlowEnd::kReceived});
    return order_;
  }
  Time NextEvent() override { return ends_.empty() ? Time::Never() : ends_.top().at; }
  void AdvanceTo(Time t, std::vector<FlowEnd>* ended) override {
    while (!ends_.empty() && ends_.top().at <= t) {
      ended->push_back({ends_.top().tag, ends_.top().at, ends_.top().kind});
      ends_.Pop();
    }
  }
  bool contention_free() const override { return true; }
  FlowCost Cost(int src, int dst, uint64_t bytes) const override { return like_.Cost(src, dst, bytes); }

 private:
  struct End {
    Time at;
    uint64_t order;
    uint64_t tag;
    FlowEnd::Kind kind;
    bool Before(const End& o) const { return at != o.at ? at < o.at : order < o.order; }
  };
  const PathPrices& like_;
  Heap4<End> ends_;
  uint64_t order_ = 0;
};

// The time of a call in which each member sends the same to each other at once, and then waits for all, where
// the fabric knows it; nullopt: any other.
std::optional<Time> ExchangeTime(const Machine& machine, const CollectiveCosts& costs,
                                 const PlannedCall& call, uint64_t bytes, const std::vector<int>& members) {
  const auto* fabric = dynamic_cast<const ExchangePrices*>(&machine.fabric());
  if (fabric == nullptr || call.plan == nullptr || !call.plan->rotational || call.costs.parts != 1 ||
      costs.step_overhead != Time::Zero()) {
    return std::nullopt;
  }
  const Plan& plan = *call.plan;
  const Program& program = plan.programs[0];
  const uint64_t chunk = EqualChunk(call, bytes);
  const size_t peers = members.size() - 1;
  if (chunk == kUnevenChunks || program.streams.size() != 1 || program.steps.size() != 2 * peers) {
    return std::nullopt;
  }
  std::vector<bool> sent(members.size());
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.op != (i < peers ? StepOp::kSend : StepOp::kRecv) || step.count != 1) return std::nullopt;
    if (i >= peers) continue;
    const auto to = static_cast<size_t>(step.peer);
    if (to == 0 || to >= sent.size() || sent[to]) return std::nullopt;
    sent[to] = true;
  }
  std::vector<ExchangeMessage> messages;
  for (size_t level = 0; level < call.costs.levels.size(); ++level) {
    const CallCosts::Level& l = call.costs.levels[level];
    if (l.cards > 1) return std::nullopt;
    messages.push_back({call.costs.OnWire(chunk, static_cast<int>(level)), l.latency});
  }
  if (messages.empty()) messages.assign(machine.topology().dimensions().size() + 1, {chunk, Time::Zero()});
  const std::optional<Time> time = fabric->TimeOfExchange(members, messages);
  if (!time) return std::nullopt;
  return call.costs.begin + *time + call.costs.part_end;
}

struct Due {
  Time at;
  uint64_t order;
  CollectiveRunner::Wake wake;
  bool Before(const Due& o) const { return at != o.at ? at < o.at : order < o.order; }
};

}  // namespace

absl::StatusOr<PricedCall> PriceCall(Machine& machine, const CollectiveCosts& costs, CollectiveType type,
                                     uint64_t bytes, int root, const std::vector<int>& members, Time* now,
                                     FlowLog* log, bool in_place) {
  Matching matching;
  matching.groups.push_back({"", members, static_cast<int>(members.size())});
  matching.calls.push_back({.type = type, .root = root, .bytes = bytes});
  CollectivePlanner planner(machine, costs, PriceUncontended, log == nullptr);
  const absl::StatusOr<const PlannedCall*> call =
      planner.Get(type, bytes, root, matching.groups[0].members, matching.groups[0].name);
  if (!call.ok()) return call.status();
  const Time begin = *now;
  const auto too_long = [&] {
    return absl::InvalidArgumentError(absl::StrCat(
        std::string(Name(type)), " of ", BufferBytes(type, bytes, static_cast<int>(members.size())),
        " bytes on ", members.size(),
        " ranks would last longer than the longest simulated time, 106 days; is a bandwidth near zero?"));
  };
  if (const std::optional<Time> together = (*call)->together; together && log == nullptr) {
    if (*together == Time::Never()) return too_long();
    *now = begin + *together;
    return PricedCall{*together, *together, (*call)->algorithm, (*call)->why, (*call)->channels};
  }
  if (in_place && log == nullptr) {
    if (const std::optional<Time> time = ExchangeTime(machine, costs, **call, bytes, members)) {
      if (*time == Time::Never()) return too_long();
      *now = begin + *time;
      return PricedCall{*time, *time, (*call)->algorithm, (*call)->why, (*call)->channels};
    }
  }
  CollectiveRunner runner(&machine, costs, matching, log == nullptr, &planner, log);
  if (absl::Status s = runner.Prepare(); !s.ok()) return s;
  Heap4<Due> due;
  uint64_t order = 0;
  size_t left = members.size();
  Time last = begin, root_end = begin;
  const auto drain = [&] {
    for (const CollectiveRunner::Ended& e : runner.ended()) {
      last = std::max(last, e.at);
      if (e.row == static_cast<uint32_t>(root)) root_end = e.at;
      --left;
    }
    runner.ended().clear();
    for (const CollectiveRunner::Wake& w : runner.wakes()) due.Push({w.at, order++, w});
    runner.wakes().clear();
  };
  for (uint32_t m = 0; m < members.size(); ++m) runner.Arrive(0, m, m, begin);
  drain();
  std::vector<FlowEnd> ended;
  while (left > 0) {
    const Time own = due.empty() ? Time::Never() : due.top().at;
    const Time next = std::min(own, machine.NextEvent(own));
    if (next == Time::Never()) {
      const std::string why = machine.WhyStuck();
      if (why.empty()) return too_long();
      return absl::FailedPreconditionError(
          absl::StrCat(std::string(Name(type)), " on ", members.size(), " ranks cannot finish: ", why));
    }
    ended.clear();
    machine.AdvanceTo(next, &ended);
    for (const FlowEnd& e : ended) runner.OnFlow(e, next);
    drain();
    while (!due.empty() && due.top().at <= next) {
      const CollectiveRunner::Wake wake = due.top().wake;
      due.Pop();
      runner.OnWake(wake.active, wake.stream, next);
      drain();
    }
  }
  if (last == Time::Never()) return too_long();
  *now = last;
  const PlannedCall& planned = *runner.planned(0);
  return PricedCall{last - begin, root_end - begin, planned.algorithm, planned.why, planned.channels};
}

absl::StatusOr<Time> PriceUncontended(const MachineView& machine, const CollectiveCosts& costs,
                                      CollectiveType type, uint64_t bytes, int root,
                                      const std::vector<int>& members) {
  Machine alone(machine, std::make_unique<Uncontended>(machine.prices()));
  Time now;
  const absl::StatusOr<PricedCall> priced = PriceCall(alone, costs, type, bytes, root, members, &now);
  if (!priced.ok()) return priced.status();
  return priced->time;
}

}  // namespace chakra
