#include "replay/collectives/fast_path.h"

#include <algorithm>

namespace chakra {

bool FastPath::Applies(const Plan& plan, uint64_t bytes) const {
  if (!fabric_->contention_free() || !plan.rotational || !plan.synchronizing) return false;
  if (plan.programs[0].streams.size() != 1) return false;
  const auto splits = static_cast<uint64_t>(costs_.splits);
  if (bytes % splits != 0) return false;
  return plan.chunk_is_whole || (bytes / splits) % static_cast<uint64_t>(plan.chunks) == 0;
}

FastPath::Entry& FastPath::EntryFor(const Plan& plan, uint32_t group, const std::vector<int>& members,
                                    uint64_t bytes) {
  std::unique_ptr<Entry>& slot = entries_[{&plan, group, bytes}];
  if (slot != nullptr) return *slot;
  slot = std::make_unique<Entry>();
  in_order_.push_back(slot.get());
  Entry& e = *slot;
  e.plan = &plan;
  e.members = &members;
  const uint64_t part = bytes / static_cast<uint64_t>(costs_.splits);
  e.message = plan.chunk_is_whole ? part : part / static_cast<uint64_t>(plan.chunks);
  const Program& program = plan.programs[0];
  e.offset.assign(program.connections, 0);
  e.bytes.assign(program.connections, 0);
  e.sends.assign(program.connections, 0);
  for (const Step& step : program.steps) {
    if (step.op != StepOp::kSend && step.op != StepOp::kSendWait) continue;
    e.offset[step.connection] = step.peer;
    e.bytes[step.connection] = e.message * static_cast<uint64_t>(step.count);
    ++e.sends[step.connection];
  }
  const int n = plan.members;
  std::vector<FlowCost> all(static_cast<size_t>(program.connections) * n);
  e.uniform = true;
  for (uint32_t c = 0; c < program.connections; ++c) {
    for (int m = 0; m < n; ++m) {
      FlowCost& cost = all[static_cast<size_t>(c) * n + m];
      cost = fabric_->Cost(members[m], members[(m + e.offset[c]) % n], e.bytes[c]);
      const FlowCost& first = all[static_cast<size_t>(c) * n];
      if (cost.received() != first.received() || cost.sent != first.sent) e.uniform = false;
    }
  }
  if (e.uniform) {
    for (uint32_t c = 0; c < program.connections; ++c) e.cost.push_back(all[static_cast<size_t>(c) * n]);
    e.together = Together(e);
  } else {
    e.cost = std::move(all);
  }
  return e;
}

Time FastPath::Together(const Entry& e) const {
  // All members are always in the same state, so what a member sends on a
  // connection is what it receives on it.
  const Program& program = e.plan->programs[0];
  std::vector<std::vector<Time>> arrived(program.connections);
  std::vector<size_t> taken(program.connections, 0);
  Time t;
  for (int part = 0; part < costs_.splits; ++part) {
    for (const Step& step : program.steps) {
      const uint32_t c = step.connection;
      const FlowCost& cost = e.cost[c];
      switch (step.op) {
        case StepOp::kSend:
        case StepOp::kSendWait:
          t += costs_.step_overhead;
          arrived[c].push_back(t + cost.received());
          if (step.op == StepOp::kSendWait) t += cost.sent;
          break;
        case StepOp::kRecv:
        case StepOp::kRecvReduce:
          t = std::max(t, arrived[c][taken[c]++]);
          if (taken[c] == arrived[c].size()) {
            arrived[c].clear();
            taken[c] = 0;
          }
          if (step.op == StepOp::kRecvReduce) t += ReduceTime(costs_, e.bytes[c]);
          break;
      }
    }
    t += costs_.step_overhead;
  }
  return t;
}

void FastPath::Skewed(const Entry& e, const std::vector<Time>& begin, std::vector<Time>* end) {
  const Program& program = e.plan->programs[0];
  const int n = e.plan->members;
  std::vector<Time>& t = *end;
  t = begin;
  std::vector<std::vector<Time>> arrived(program.connections);  // blocks of n, by receiver
  std::vector<size_t> taken(program.connections, 0);
  for (int part = 0; part < costs_.splits; ++part) {
    for (const Step& step : program.steps) {
      const uint32_t c = step.connection;
      std::vector<Time>& queue = arrived[c];
      if (step.op == StepOp::kSend || step.op == StepOp::kSendWait) {
        const size_t base = queue.size();
        queue.resize(base + n);
        for (int m = 0; m < n; ++m) {
          const FlowCost& cost = e.uniform ? e.cost[c] : e.cost[static_cast<size_t>(c) * n + m];
          t[m] += costs_.step_overhead;
          int to = m + e.offset[c];
          if (to >= n) to -= n;
          queue[base + to] = t[m] + cost.received();
          if (step.op == StepOp::kSendWait) t[m] += cost.sent;
        }
        continue;
      }
      const Time reduce = step.op == StepOp::kRecvReduce ? ReduceTime(costs_, e.bytes[c]) : Time::Zero();
      const size_t base = taken[c];
      for (int m = 0; m < n; ++m) t[m] = std::max(t[m], queue[base + m]) + reduce;
      taken[c] += n;
      if (taken[c] == queue.size()) {
        queue.clear();
        taken[c] = 0;
      }
    }
    for (int m = 0; m < n; ++m) t[m] += costs_.step_overhead;
  }
}

void FastPath::Evaluate(const Plan& plan, uint32_t group, const std::vector<int>& members, uint64_t bytes,
                        const std::vector<Time>& begin, std::vector<Time>* end) {
  Entry& e = EntryFor(plan, group, members, bytes);
  ++e.times;
  if (e.uniform && std::all_of(begin.begin(), begin.end(), [&](Time t) { return t == begin[0]; })) {
    end->assign(begin.size(), begin[0] + e.together);
    return;
  }
  Skewed(e, begin, end);
}

void FastPath::Account() {
  for (Entry* e : in_order_) {
    const int n = e->plan->members;
    for (size_t c = 0; c < e->offset.size(); ++c) {
      const uint64_t times = e->times * e->sends[c] * static_cast<uint64_t>(costs_.splits);
      if (e->bytes[c] == 0 || times == 0) continue;
      for (int m = 0; m < n; ++m) {
        fabric_->Account((*e->members)[m], (*e->members)[(m + e->offset[c]) % n], e->bytes[c], times);
      }
    }
    e->times = 0;
  }
}

}  // namespace chakra
