#include "replay/engine/simulated/collective_runner.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "replay/engine/simulated/call_memory.h"
#include "replay/nccl/planned_call.h"
#include "trace/base/status_macros.h"

namespace chakra {

absl::Status CollectiveRunner::Prepare() {
  plan_of_.assign(matching_.calls.size(), nullptr);
  calls_.assign(matching_.calls.size(), CallState());
  if (log_ != nullptr) first_call_ = log_->AddCalls(matching_.calls.size());
  std::set<std::pair<const Plan*, uint32_t>> checked;
  for (size_t i = 0; i < matching_.calls.size(); ++i) {
    const CollectiveCall& call = matching_.calls[i];
    const int members = static_cast<int>(matching_.groups[call.group].members.size());
    calls_[i].left = static_cast<uint32_t>(members);
    if (members < 2 || call.kept || IsEmpty(call)) continue;
    const GroupInfo& group = matching_.groups[call.group];
    ASSIGN_OR_RETURN(const PlannedCall* plan,
                     planner_->Get(call.type, call.bytes, call.root, group.members, group.name, call.kernel));
    plan_of_[i] = plan;
    const Plan* steps = plan->plan;
    if (steps == nullptr || steps->switches.empty() || !checked.insert({steps, call.group}).second) continue;
    RETURN_IF_ERROR(CheckSwitches(*steps, group));
  }
  return absl::OkStatus();
}

absl::Status CollectiveRunner::CheckMemory() const {
  absl::flat_hash_set<const PlannedCall*> checked;
  for (uint32_t i = 0; i < plan_of_.size(); ++i) {
    const PlannedCall* planned = plan_of_[i];
    if (planned == nullptr || planned->plan == nullptr || !checked.insert(planned).second) continue;
    const CollectiveCall& call = matching_.calls[i];
    const bool may_close =
        fast_paths_ && (planned->together || fast_.Applies(*planned, call.bytes) || apart_.Has(i));
    if (may_close) continue;
    const size_t members = matching_.groups[call.group].members.size();
    RETURN_IF_ERROR(CheckCallMemory(*machine_, call, members, *planned));
  }
  return absl::OkStatus();
}

absl::Status CollectiveRunner::CheckSwitches(const Plan& plan, const GroupInfo& group) const {
  const auto bad = [&](int a, int b, absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(
        "plan ", plan.algorithm, " for ", std::string(Name(plan.type)), " in group \"", group.name,
        "\": ", what, " members ", a, " (rank ", group.members[a], ") and ", b, " (rank ", group.members[b],
        "); expected one switch of the only dimension in which they differ"));
  };
  for (size_t s = 0; s < plan.switches.size(); ++s) {
    const auto [a, b] = plan.switches[s];
    const int endpoint = machine_->SwitchBetween(group.members[a], group.members[b]);
    if (endpoint < 0) return bad(a, b, "the machine has no switch between");
    for (const Step& step : plan.program(plan.members + static_cast<int>(s)).steps) {
      if (!IsSend(step.op) && !IsReceive(step.op)) continue;
      if (step.peer >= plan.members)
        return absl::InvalidArgumentError(absl::StrCat("plan ", plan.algorithm, ": switch ", s,
                                                       " exchanges messages with switch ",
                                                       step.peer - plan.members, "; expected members only"));
      const int anchor = step.peer == a ? b : a;
      if (machine_->SwitchBetween(group.members[step.peer], group.members[anchor]) != endpoint)
        return bad(step.peer, anchor, "another switch or none is between");
    }
  }
  return absl::OkStatus();
}

int CollectiveRunner::Endpoint(const Active& a, uint32_t node) const {
  const std::vector<int>& members = matching_.groups[matching_.calls[a.call].group].members;
  return node < members.size() ? members[node]
                               : EndpointOf(*machine_, *a.plan, members, static_cast<int>(node));
}

bool CollectiveRunner::Arrived(uint32_t call, uint32_t member) const {
  const CallState& state = calls_[call];
  if (state.over) return true;
  return state.active != kNoRow && active_[state.active].row[member] != kNoRow;
}

uint32_t CollectiveRunner::Open(uint32_t call, Time now, const CauseRef& cause) {
  uint32_t index;
  if (free_.empty()) {
    index = static_cast<uint32_t>(active_.size());
    active_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Active& a = active_[index];
  const CollectiveCall& c = matching_.calls[call];
  const size_t members = matching_.groups[c.group].members.size();
  a.call = call;
  a.planned = plan_of_[call];
  a.plan = a.planned == nullptr ? nullptr : a.planned->plan;
  a.first = now;
  a.last_end = now;
  a.switches_left = 0;
  a.learns = false;
  a.row.assign(members, kNoRow);
  a.begin.assign(members, Time::Zero());
  if (keep_causes_) a.why.Open(members, cause);
  a.fast = a.plan != nullptr && fast_paths_ && fast_.Applies(*a.planned, c.bytes);
  if (a.plan == nullptr || a.fast) return index;
  a.held = fast_paths_ && (a.planned->together.has_value() || apart_.Has(call));
  if (a.held) {
    wakes_.push_back({now, index, kHeld});
    return index;
  }
  OpenSteps(a);
  for (size_t node = members; node < static_cast<size_t>(a.plan->nodes()); ++node)
    StartNode(index, static_cast<uint32_t>(node), now);
  return index;
}

void CollectiveRunner::Arrive(uint32_t call, uint32_t member, uint32_t row, Time now, CauseRef cause) {
  CallState& state = calls_[call];
  if (state.active == kNoRow) state.active = Open(call, now, cause);
  const uint32_t index = state.active;
  Active& a = active_[index];
  a.row[member] = row;
  a.begin[member] = now;
  a.last_arrival = now;
  if (keep_causes_) a.why.Arrive(member, cause);
  ++state.arrived;
  if (a.held) return;
  if (a.plan == nullptr) {
    EndMember(a, member, now, std::move(cause));
  } else if (!a.fast) {
    StartNode(index, member, now);
  } else if (state.arrived == a.row.size()) {
    RunFast(index);
  }
}

void CollectiveRunner::Release(uint32_t active, Time now) {
  Active& a = active_[active];
  a.held = false;
  const auto members = static_cast<uint32_t>(a.row.size());
  const bool all = calls_[a.call].arrived == members;
  a.learns = keep_causes_ && all && !learned_.Knows(a.planned);
  if (all && a.planned->together && !a.learns) {
    a.switches_left = 0;
    counts_.CountClosed(TimesOf(a.call));
    apart_.Count(a.call, *a.planned, nullptr, TimesOf(a.call));
    if (keep_causes_) {
      origins_ = learned_.Origins(a.planned);
      ends_.assign(members, now + *a.planned->together);
      return EndMembersFor(active);
    }
    wakes_.push_back({now + *a.planned->together, active, kWholeCall});
    return;
  }
  if (all && !a.planned->together && EndApart(active, now)) return;
  OpenSteps(a);
  const auto nodes = static_cast<uint32_t>(a.plan->nodes());
  for (uint32_t node = members; node < nodes; ++node) StartNode(active, node, now);
  for (uint32_t m = 0; m < members; ++m) {
    if (active_[active].row[m] != kNoRow) StartNode(active, m, now);
  }
}

bool CollectiveRunner::EndApart(uint32_t active, Time now) {
  Active& a = active_[active];
  const ApartCalls::Outcome* outcome = apart_.Of(a.call, *a.planned);
  if (outcome == nullptr) return false;
  a.switches_left = 0;
  counts_.CountClosed(TimesOf(a.call));
  apart_.Count(a.call, *a.planned, outcome, TimesOf(a.call));
  if (outcome->together) {
    wakes_.push_back({now + outcome->ends[0], active, kWholeCall});
    return true;
  }
  const auto members = static_cast<uint32_t>(a.row.size());
  for (uint32_t m = 0; m < members; ++m) EndMember(active_[active], m, now + outcome->ends[m], {});
  return true;
}

void CollectiveRunner::RunFast(uint32_t active) {
  Active& a = active_[active];
  const CollectiveCall& call = matching_.calls[a.call];
  fast_.Evaluate(*a.planned, call.group, matching_.groups[call.group].members, call.bytes, a.begin, &ends_,
                 keep_causes_ ? &origins_ : nullptr, TimesOf(a.call));
  counts_.CountClosed(TimesOf(a.call));
  if (keep_causes_) return EndMembersFor(active);
  if (std::all_of(ends_.begin(), ends_.end(), [&](Time t) { return t == ends_[0]; })) {
    wakes_.push_back({ends_[0], active, kWholeCall});  // one event instead of one for each member
    return;
  }
  const auto members = static_cast<uint32_t>(ends_.size());
  for (uint32_t m = 0; m < members; ++m) EndMember(active_[active], m, ends_[m], {});
}

void CollectiveRunner::EndTogether(uint32_t active, Time at) {
  const auto members = static_cast<uint32_t>(active_[active].row.size());
  for (uint32_t m = 0; m < members; ++m) EndMember(active_[active], m, at, {});
}

void CollectiveRunner::EndNode(Active& a, uint32_t node, Time at, const CauseRef& cause) {
  if (node < static_cast<uint32_t>(a.plan->members)) return EndMember(a, node, at, cause);
  if (--a.switches_left == 0 && calls_[a.call].left == 0) Close(a);
}

void CollectiveRunner::EndMember(Active& a, uint32_t member, Time at, CauseRef cause) {
  const CollectiveCall& call = matching_.calls[a.call];
  if (a.learns) learned_.Learn(a.planned, call, member, a.first, cause);
  ended_.push_back({static_cast<uint32_t>(matching_.groups[call.group].members[member]), a.row[member], at,
                    std::move(cause)});
  a.last_end = std::max(a.last_end, at);
  if (--calls_[a.call].left == 0 && a.switches_left == 0) Close(a);
}

void CollectiveRunner::Close(Active& a) {
  const CollectiveCall& call = matching_.calls[a.call];
  counts_.CountCall(call, a.begin, a.last_arrival, a.last_end);
  CallState& state = calls_[a.call];
  state.over = true;
  if (keep_causes_) a.why = {};
  free_.push_back(state.active);
  state.active = kNoRow;
}

Spender CollectiveRunner::Whose(const Active& a, uint32_t node) const {
  const std::vector<int>& members = matching_.groups[matching_.calls[a.call].group].members;
  Spender who;
  who.call = a.call;
  if (node < members.size()) {
    who.rank = static_cast<uint32_t>(members[node]);
    who.row = a.row[node];
  }
  return who;
}

void CollectiveRunner::EndMembersFor(uint32_t active) {
  const auto members = static_cast<uint32_t>(ends_.size());
  for (uint32_t m = 0; m < members; ++m) {
    Active& a = active_[active];
    Cause closed = Whose(a, m).Until(ends_[m], Cause::kClosed);
    closed.src = static_cast<int>(origins_[m]);
    closed.dst = static_cast<int>(m);
    EndMember(a, m, ends_[m], Because(a.why.StartOf(origins_[m]), std::move(closed)));
  }
}

void CollectiveRunner::Report(Metrics* metrics) {
  fast_.Account();
  apart_.Report();
  for (uint32_t i = 0; i < matching_.calls.size(); ++i) {
    if (calls_[i].over && plan_of_[i] != nullptr) counts_.CountChoice(matching_.calls[i], *plan_of_[i]);
  }
  counts_.AddTo(metrics);
}

}  // namespace chakra
