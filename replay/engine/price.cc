#include "replay/engine/price.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "replay/collectives/accounting.h"
#include "replay/engine/alone/isolated_call.h"
#include "replay/engine/simulated/collective_runner.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/planned_call.h"
#include "replay/nccl/planner.h"
#include "trace/base/heap4.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// A fabric on which every flow takes the time that it takes without other traffic.
class Uncontended final : public Fabric, public PathPrices {
 public:
  explicit Uncontended(const PathPrices& like) : like_(like) {}

  FlowId Start(const Flow& flow, Time now) override {
    const FlowCost cost = like_.Cost(flow.src, flow.dst, flow.OnLinks()).Limited(flow.OnLinks(), flow.limit);
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

}  // namespace

absl::StatusOr<PricedCall> PriceCall(Machine& machine, const CollectiveCosts& costs, CollectiveType type,
                                     uint64_t bytes, int root, const std::vector<int>& members, Time* now,
                                     FlowLog* log, bool in_place, PlanCache* plans) {
  Matching matching;
  matching.groups.push_back({"", members, static_cast<int>(members.size())});
  matching.calls.push_back({.type = type, .root = root, .bytes = bytes});
  CollectivePlanner planner(machine, costs, PriceUncontended, log == nullptr, plans);
  ASSIGN_OR_RETURN(const PlannedCall* const call,
                   planner.Get(type, bytes, root, matching.groups[0].members, matching.groups[0].name));
  if (CollectiveRunner::IsEmpty(matching.calls[0]))
    return PricedCall{Time::Zero(), Time::Zero(), call->algorithm, call->why, call->channels};
  const Time begin = *now;
  const auto too_long = [&] {
    return absl::InvalidArgumentError(absl::StrCat(
        std::string(Name(type)), " of ", BufferBytes(type, bytes, static_cast<int>(members.size())),
        " bytes on ", members.size(),
        " ranks would last longer than the longest simulated time, 106 days; is a bandwidth near zero?"));
  };
  const auto priced = [&](Time last, Time root_end) -> absl::StatusOr<PricedCall> {
    if (last == Time::Never()) return too_long();
    *now = begin + last;
    return PricedCall{last, root_end, call->algorithm, call->why, call->channels};
  };
  const bool closed = in_place && log == nullptr;
  if (call->together && log == nullptr) return priced(*call->together, *call->together);
  if (closed) {
    if (const auto time = TimeOfExchange(machine, costs, *call, bytes, members))
      return priced(time->last, time->last);
    if (const auto time = TimeOfRing(machine, costs, *call, bytes, members)) return priced(*time, *time);
  }
  CollectiveRunner runner(&machine, costs, matching, log == nullptr, &planner, log);
  RETURN_IF_ERROR(runner.Prepare());
  if (closed) {
    if (const auto time = TimeOfSteps(machine, costs, *call, bytes, root, members))
      return priced(time->last, time->root);
  }
  RETURN_IF_ERROR(runner.CheckMemory());
  if (closed) {
    if (const auto time = TimeByImages(machine, costs, *call, matching, &planner))
      return priced(time->last, time->root);
  }
  Time last = begin, root_end = begin;
  const bool done = RunIsolatedCall(machine, runner, static_cast<uint32_t>(members.size()), begin,
                                    [&](const CollectiveRunner::Ended& e) {
                                      last = std::max(last, e.at);
                                      if (e.row == static_cast<uint32_t>(root)) root_end = e.at;
                                    });
  if (!done) {
    const std::string why = machine.WhyStuck();
    if (why.empty()) return too_long();
    return absl::FailedPreconditionError(
        absl::StrCat(std::string(Name(type)), " on ", members.size(), " ranks cannot finish: ", why));
  }
  return last == Time::Never() ? too_long() : priced(last - begin, root_end - begin);
}

absl::StatusOr<Time> PriceUncontended(const MachineView& machine, const CollectiveCosts& costs,
                                      CollectiveType type, uint64_t bytes, int root,
                                      const std::vector<int>& members) {
  Machine alone(machine, std::make_unique<Uncontended>(machine.prices()));
  Time now;
  ASSIGN_OR_RETURN(const PricedCall priced, PriceCall(alone, costs, type, bytes, root, members, &now));
  return priced.time;
}

}  // namespace chakra
