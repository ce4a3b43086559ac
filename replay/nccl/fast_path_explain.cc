// Explains how a closed form spends its time: the longest path from the member whose start decided to the
// member that ended.
#include <algorithm>
#include <limits>

#include "replay/nccl/fast_path.h"
#include "replay/nccl/planned_call.h"

namespace chakra {

size_t NarrowestOf(const std::vector<LinkCost>& costs) {
  const auto most = std::max_element(costs.begin(), costs.end(), [](const LinkCost& a, const LinkCost& b) {
    return a.transfer < b.transfer;
  });
  return most == costs.end() ? 0 : most->link_class;
}

void FastPath::AddMessage(const Entry& e, uint32_t c, int sender, int64_t times, PathParts* parts) const {
  const std::vector<int>& members = *e.members;
  const int src = members[sender];
  const int dst = members[(sender + e.offset[c]) % e.plan->members];
  uint64_t wire = e.bytes[c];
  Bandwidth limit;
  if (!e.costs->levels.empty()) {
    const int level = machine_->Level(src, dst);
    wire = e.costs->OnWire(wire, level);
    limit = e.costs->levels[static_cast<size_t>(level)].limit;
    parts->software += e.costs->levels[static_cast<size_t>(level)].latency * times;
  }
  parts->AddLinks(machine_->CostByLinks(src, dst, wire, limit), times);
}

// The path from `origin` to `member` with the largest number of hops that is at most the number of steps.
PathParts FastPath::ExplainRing(const Entry& e, uint32_t origin, uint32_t member) const {
  const int n = e.plan->members;
  const Program& program = e.plan->programs[0];
  PathParts parts;
  for (const Step& step : program.steps) {
    if (IsSend(step.op)) parts.software += costs_.step_overhead;
    parts.reduce += ReduceTime(costs_, step.op, e.bytes[0]);
  }
  parts.software += costs_.step_overhead + e.costs->part_end;
  parts.software = parts.software * e.costs->Rounds() + e.costs->begin;
  parts.reduce = parts.reduce * e.costs->Rounds();
  const std::vector<int> order = RingOrder(e);
  const auto place = [&](uint32_t m) {
    return std::find(order.begin(), order.end(), static_cast<int>(m)) - order.begin();
  };
  const int64_t steps = static_cast<int64_t>(program.steps.size() / 2) * e.costs->Rounds();
  const int64_t first = place(origin), apart = (place(member) - first + n) % n;
  const int64_t hops = apart <= steps ? apart + (steps - apart) / n * n : 0;
  for (int64_t i = 0; i < std::min<int64_t>(hops, n); ++i) {
    AddMessage(e, 0, order[(first + i) % n], hops / n + (i < hops % n ? 1 : 0), &parts);
  }
  return parts;
}

Time FastPath::Overhead(const Program& program, size_t step) const {
  return SharesStep(step == 0 ? nullptr : &program.steps[step - 1]) ? Time::Zero() : costs_.step_overhead;
}

// Evaluates all steps for all members as if only `origin` had begun. Then follows the deciding steps back
// from `member`.
PathParts FastPath::ExplainSteps(const Entry& e, uint32_t origin, uint32_t member) const {
  constexpr int64_t kNot = std::numeric_limits<int64_t>::min() / 2;
  const Program& program = e.plan->programs[0];
  const auto n = static_cast<size_t>(e.plan->members);
  const size_t steps = program.steps.size();
  std::vector<int64_t> t(n, kNot);
  t[origin] = 0;
  std::vector<std::vector<int64_t>> arrived(program.connections);  // blocks of n entries, by receiver
  std::vector<std::vector<size_t>> sent(program.connections);      // by message: the step that sent it
  std::vector<size_t> taken(program.connections, 0);
  std::vector<std::vector<bool>> waited(steps * static_cast<size_t>(e.costs->Rounds()));  // by step, then by
                                                                                          // member
  std::vector<size_t> message(waited.size());                                             // by step: the
                                                                                          // number of its
                                                                                          // message
  for (size_t i = 0; i < waited.size(); ++i) {
    const Step& step = program.steps[i % steps];
    const uint32_t c = step.connection;
    if (IsSend(step.op)) {
      const size_t base = arrived[c].size();
      arrived[c].resize(base + n);
      message[i] = sent[c].size();
      sent[c].push_back(i);
      const Time overhead = Overhead(program, i % steps);
      for (size_t m = 0; m < n; ++m) {
        const FlowCost cost = CostOf(e, c, m);
        t[m] += overhead.picos();
        arrived[c][base + (m + static_cast<size_t>(e.offset[c])) % n] = t[m] + cost.received().picos();
        if (step.op == StepOp::kSendWait) t[m] += cost.sent.picos();
      }
    } else {
      message[i] = taken[c]++;
      waited[i].resize(n);
      const int64_t reduce = ReduceTime(costs_, step.op, e.bytes[c]).picos();
      for (size_t m = 0; m < n; ++m) {
        const int64_t there = arrived[c][message[i] * n + m];
        waited[i][m] = there > t[m];
        t[m] = std::max(t[m], there) + reduce;
      }
    }
    if (i % steps == steps - 1) {
      for (int64_t& at : t) at += (costs_.step_overhead + e.costs->part_end).picos();
    }
  }
  PathParts parts;
  parts.software = e.costs->begin;
  size_t m = member;
  bool within = false;  // whether the path is within a message whose send has already been counted
  for (size_t i = waited.size(); i-- > 0;) {
    const Step& step = program.steps[i % steps];
    const uint32_t c = step.connection;
    if (i % steps == steps - 1 && !within) parts.software += costs_.step_overhead + e.costs->part_end;
    if (IsSend(step.op)) {
      parts.software += Overhead(program, i % steps);
      if (step.op == StepOp::kSendWait && !within) {
        const FlowCost cost = CostOf(e, c, m);
        const int src = (*e.members)[m], dst = (*e.members)[(m + static_cast<size_t>(e.offset[c])) % n];
        parts.links[NarrowestOf(machine_->CostByLinks(src, dst, e.bytes[c]))].transfer += cost.sent;
      }
      within = false;
      continue;
    }
    within = false;
    parts.reduce += ReduceTime(costs_, step.op, e.bytes[c]);
    if (!waited[i][m]) continue;
    m = (m + n - static_cast<size_t>(e.offset[c]) % n) % n;
    AddMessage(e, c, static_cast<int>(m), 1, &parts);
    i = sent[c][message[i]] + 1;  // the next step back is the send itself
    within = true;
  }
  return parts;
}

PathParts FastPath::Explain(const PlannedCall& call, uint32_t group, const std::vector<int>& members,
                            uint64_t bytes, uint32_t origin, uint32_t member) {
  const Entry& e = EntryFor(call, group, members, bytes);
  return e.ring ? ExplainRing(e, origin, member) : ExplainSteps(e, origin, member);
}

}  // namespace chakra
