#include "replay/nccl/fast_path.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <numeric>
#include <utility>

#include "replay/nccl/planned_call.h"

namespace chakra {

uint64_t EqualChunk(const PlannedCall& call, uint64_t bytes) {
  const Plan& plan = *call.plan;
  const int cuts = plan.parts > 0 ? plan.parts : plan.chunks;
  const uint64_t pieces =
      static_cast<uint64_t>(call.costs.parts) * (plan.chunk_is_whole ? 1 : static_cast<uint64_t>(cuts));
  if (bytes % pieces != 0 && call.costs.levels.empty()) return kUnevenChunks;
  return bytes / pieces + (bytes % pieces != 0 ? 1 : 0);
}

bool FastPath::Applies(const PlannedCall& call, uint64_t bytes) const {
  const Plan& plan = *call.plan;
  if (!machine_->contention_free() || !plan.rotational || !plan.synchronizing) return false;
  if (plan.programs[0].streams.size() != 1 || plan.has_local_steps) return false;
  if (plan.input.count > 0 || plan.output.count > 0 || !plan.switches.empty()) return false;
  for (const Step& step : plan.programs[0].steps) {
    if (!IsSend(step.op) && !IsReceive(step.op)) return false;
  }
  return EqualChunk(call, bytes) != kUnevenChunks;
}

namespace {

constexpr size_t kMostPairs = size_t{1} << 28;  // the maximum number of pairs whose kinds of cost are kept,
                                                // one byte each

bool IsExchange(const Program& program) {
  const size_t half = program.steps.size() / 2;
  if (program.steps.size() != 2 * size_t{program.connections}) return false;
  std::vector<bool> sent(program.connections), received(program.connections);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    std::vector<bool>& seen = i < half ? sent : received;
    if ((i < half ? !IsSend(step.op) : step.op != StepOp::kRecv) || seen[step.connection]) return false;
    seen[step.connection] = true;
  }
  return true;
}

}  // namespace

FlowCost PairCost(const MachineView& machine, const CallCosts& costs, int src, int dst, uint64_t bytes) {
  if (costs.levels.empty()) return machine.Cost(src, dst, bytes);
  const int level = machine.Level(src, dst);
  const CallCosts::Level& of = costs.levels[static_cast<size_t>(level)];
  FlowCost cost = machine.Cost(src, dst, costs.OnWire(bytes, level), of.limit);
  cost.latency += of.latency;
  return cost;
}

namespace {

// Whether the blocks' coordinates in the top dimension are symmetric with regard to paths. On a ring, the
// distance from each block to the next must be the same; elsewhere the coordinates must only differ.
bool BlocksAreAlike(const TopologyDimension& d, const std::vector<int>& blocks) {
  if (d.kind == TopologyDimension::Kind::kNetwork) return false;
  if (d.kind == TopologyDimension::Kind::kRing) {
    for (size_t b = 0; b < blocks.size(); ++b) {
      const int step = blocks[(b + 1) % blocks.size()] - blocks[b];
      if ((step - (blocks[1] - blocks[0])) % d.size != 0) return false;
    }
    return true;
  }
  std::vector<int> sorted = blocks;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

}  // namespace

size_t PeriodOfCosts(const MachineView& machine, const std::vector<int>& members) {
  const size_t n = members.size();
  if (n < 2 || machine.topology().has_network()) return n;
  int top = 0;
  for (const int m : members) top = std::max(top, machine.Level(members[0], m));
  const auto block = [&](size_t m) { return machine.Coordinate(members[m], top); };
  size_t period = 1;
  while (period < n && block(period) == block(0)) ++period;
  if (n % period != 0 || period == n) return n;
  std::vector<int> blocks;
  for (size_t m = 0; m < n; ++m) {
    if (m % period == 0) blocks.push_back(block(m));
    if (block(m) != blocks.back()) return n;
    for (int d = 0; d < top; ++d) {
      if (machine.Coordinate(members[m], d) != machine.Coordinate(members[m % period], d)) return n;
    }
  }
  return BlocksAreAlike(machine.topology().dimensions()[static_cast<size_t>(top)], blocks) ? period : n;
}

FastPath::Entry& FastPath::EntryFor(const PlannedCall& call, uint32_t group, const std::vector<int>& members,
                                    uint64_t bytes) {
  std::unique_ptr<Entry>& slot = entries_[{&call, group, bytes}];
  if (slot != nullptr) return *slot;
  slot = std::make_unique<Entry>();
  in_order_.push_back(slot.get());
  Entry& e = *slot;
  const Plan& plan = *call.plan;
  e.plan = &plan;
  e.costs = &call.costs;
  e.members = &members;
  e.message = EqualChunk(call, bytes);
  const Program& program = plan.programs[0];
  e.offset.assign(program.connections, 0);
  e.bytes.assign(program.connections, 0);
  e.sends.assign(program.connections, 0);
  e.ring = program.connections == 1 && program.steps.size() % 2 == 0;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    e.ring = e.ring && (i % 2 == 0 ? step.op == StepOp::kSend : IsReceive(step.op));
    if (!IsSend(step.op)) continue;
    e.offset[step.connection] = step.peer;
    e.bytes[step.connection] = e.message * static_cast<uint64_t>(step.count);
    ++e.sends[step.connection];
  }
  e.exchange = IsExchange(program);
  e.period = PeriodOfCosts(*machine_, members);
  FillCosts(&e);
  if (e.uniform) e.together = Together(e);
  return e;
}

void FastPath::FillCosts(Entry* entry) const {
  Entry& e = *entry;
  e.uniform = true;
  for (size_t c = 0; c < e.offset.size() && e.uniform; ++c) {
    const FlowCost first = FindCost(e, c, 0);
    e.cost.push_back(first);
    for (size_t m = 1; m < e.period && e.uniform; ++m) {
      const FlowCost cost = FindCost(e, c, m);
      e.uniform = cost.received() == first.received() && cost.sent == first.sent;
    }
  }
  if (!e.uniform) FillKinds(entry);
}

// Paths of one length have the same cost, so there are few kinds of cost, and one byte for each pair holds
// its kind. If there are more than kMostPairs pairs, or more kinds than a byte can hold, costs are computed
// when they are needed.
void FastPath::FillKinds(Entry* entry) const {
  Entry& e = *entry;
  e.cost.clear();
  const size_t n = e.period, connections = e.offset.size();
  if (connections > kMostPairs / n) return;
  std::map<std::array<int64_t, 3>, uint8_t> kinds;
  e.kind.resize(connections * n);
  for (size_t pair = 0; pair < e.kind.size(); ++pair) {
    const FlowCost cost = FindCost(e, pair / n, pair % n);
    const auto [at, fresh] =
        kinds.try_emplace({cost.latency.picos(), cost.transfer.picos(), cost.sent.picos()},
                          static_cast<uint8_t>(e.cost.size()));
    if (fresh) e.cost.push_back(cost);
    if (e.cost.size() > 256) {
      e.cost.clear();
      e.kind.clear();
      return;
    }
    e.kind[pair] = at->second;
  }
}

Time FastPath::Together(const Entry& e) const {
  if (e.ring) {
    std::vector<Time> ends;
    Ring(e, std::vector<Time>(static_cast<size_t>(e.plan->members)), &ends, nullptr);
    return ends[0];
  }
  // All members are always in the same state, so what a member receives on a connection is exactly what it
  // sends on the connection.
  const Program& program = e.plan->programs[0];
  std::vector<std::vector<Time>> arrived(program.connections);
  std::vector<size_t> taken(program.connections, 0);
  Time t = e.costs->begin;
  for (int part = 0; part < e.costs->Rounds(); ++part) {
    const Step* before = nullptr;
    for (const Step& step : program.steps) {
      const uint32_t c = step.connection;
      const FlowCost& cost = e.cost[c];
      const bool pays = !SharesStep(std::exchange(before, &step));
      switch (step.op) {
        case StepOp::kSend:
        case StepOp::kSendWait:
          if (pays) t += costs_.step_overhead;
          arrived[c].push_back(t + cost.received());
          if (step.op == StepOp::kSendWait) t += cost.sent;
          break;
        case StepOp::kRecv:
        case StepOp::kRecvReduce:
        case StepOp::kRecvReduceHalf:
        case StepOp::kRecvReduceBeside:
          t = std::max(t, arrived[c][taken[c]++]);
          if (taken[c] == arrived[c].size()) {
            arrived[c].clear();
            taken[c] = 0;
          }
          t += ReduceTime(costs_, step.op, e.bytes[c]);
          break;
        default:  // local steps; Applies() rejects plans with them
          break;
      }
    }
    t += costs_.step_overhead + e.costs->part_end;
  }
  return t;
}

void FastPath::Skewed(const Entry& e, const std::vector<Time>& begin, std::vector<Time>* end,
                      std::vector<uint32_t>* origin) {
  const Program& program = e.plan->programs[0];
  const int n = static_cast<int>(begin.size());
  std::vector<Time>& t = *end;
  t = begin;
  for (Time& at : t) at += e.costs->begin;
  std::vector<std::vector<Time>> arrived(program.connections);  // n entries for each message, by receiver
  std::vector<size_t> taken(program.connections, 0);
  std::vector<std::vector<uint32_t>> from(
      program.connections);  // parallel to `arrived`; filled if origins are wanted
  if (origin != nullptr) {
    origin->resize(static_cast<size_t>(n));
    std::iota(origin->begin(), origin->end(), 0);
  }
  for (int part = 0; part < e.costs->Rounds(); ++part) {
    const Step* before = nullptr;
    for (const Step& step : program.steps) {
      const uint32_t c = step.connection;
      std::vector<Time>& queue = arrived[c];
      const Time overhead = SharesStep(std::exchange(before, &step)) ? Time::Zero() : costs_.step_overhead;
      if (step.op == StepOp::kSend || step.op == StepOp::kSendWait) {
        const size_t base = queue.size();
        queue.resize(base + n);
        if (origin != nullptr) from[c].resize(base + n);
        for (int m = 0; m < n; ++m) {
          const FlowCost cost = CostOf(e, c, static_cast<size_t>(m));
          t[m] += overhead;
          int to = m + e.offset[c] % n;
          if (to >= n) to -= n;
          queue[base + to] = t[m] + cost.received();
          if (origin != nullptr) from[c][base + to] = (*origin)[m];
          if (step.op == StepOp::kSendWait) t[m] += cost.sent;
        }
        continue;
      }
      const Time reduce = ReduceTime(costs_, step.op, e.bytes[c]);
      const size_t base = taken[c];
      for (int m = 0; m < n && origin != nullptr; ++m) {
        if (queue[base + m] > t[m]) (*origin)[m] = from[c][base + m];
      }
      for (int m = 0; m < n; ++m) t[m] = std::max(t[m], queue[base + m]) + reduce;
      taken[c] += n;
      if (taken[c] == queue.size()) {
        queue.clear();
        from[c].clear();
        taken[c] = 0;
      }
    }
    for (int m = 0; m < n; ++m) t[m] += costs_.step_overhead + e.costs->part_end;
  }
}

// A member ends with the later of its own last send and its latest receive. Its origin is that of its latest
// receive; if several are equally late, of the first of them in the order of its steps.
void FastPath::Exchange(const Entry& e, const std::vector<Time>& begin, std::vector<Time>* end,
                        std::vector<uint32_t>* origin) const {
  const Program& program = e.plan->programs[0];
  const size_t n = begin.size();
  const size_t connections = program.connections;
  std::vector<uint32_t> place(connections);  // by connection: index of its receive among the receives
  for (size_t i = 0; i < connections; ++i)
    place[program.steps[connections + i].connection] = static_cast<uint32_t>(i);
  std::vector<Time>& t = *end;
  t = begin;
  for (Time& at : t) at += e.costs->begin;
  if (origin != nullptr) {
    origin->resize(n);
    std::iota(origin->begin(), origin->end(), 0);
  }
  for (int part = 0; part < e.costs->Rounds(); ++part) {
    std::vector<Time> latest(n);
    std::vector<uint32_t> at(n, UINT32_MAX), from(n);
    for (size_t i = 0; i < connections; ++i) {
      const uint32_t c = program.steps[i].connection;
      const Time overhead = Overhead(program, i);
      size_t to = static_cast<size_t>(e.offset[c]) % n;
      for (size_t m = 0; m < n; ++m, to = to + 1 == n ? 0 : to + 1) {
        const FlowCost cost = CostOf(e, c, m);
        t[m] += overhead;
        const Time there = t[m] + cost.received();
        if (program.steps[i].op == StepOp::kSendWait) t[m] += cost.sent;
        if (there < latest[to] || (there == latest[to] && place[c] > at[to])) continue;
        latest[to] = there;
        at[to] = place[c];
        if (origin != nullptr) from[to] = (*origin)[m];
      }
    }
    for (size_t m = 0; m < n; ++m) {
      if (latest[m] > t[m]) {
        t[m] = latest[m];
        if (origin != nullptr) (*origin)[m] = from[m];
      }
      t[m] += costs_.step_overhead + e.costs->part_end;
    }
  }
}

// A ring is linear in max-plus algebra. Let c be the cost of a link, and let each step s add the same time to
// all members. Then after S steps member m ends at
//   sum of the steps' times + max over k in [0, S] of (begin[m - k] + c[m - k] + ... + c[m - 1]).
// Whole turns only add time, so the n largest k decide. A sliding maximum gives the result for all members.
std::vector<int> FastPath::RingOrder(const Entry& e) {
  const int n = e.plan->members;
  std::vector<int> order(n);
  for (int i = 1; i < n; ++i) order[i] = (order[i - 1] + e.offset[0]) % n;
  return order;
}

void FastPath::Ring(const Entry& e, const std::vector<Time>& begin, std::vector<Time>* end,
                    std::vector<uint32_t>* origin) const {
  const int n = e.plan->members;
  const Program& program = e.plan->programs[0];
  using Picos = __int128;  // sums and differences of times that may saturate
  Time part;
  for (const Step& step : program.steps) {
    part += IsSend(step.op) ? costs_.step_overhead : ReduceTime(costs_, step.op, e.bytes[0]);
  }
  part += costs_.step_overhead + e.costs->part_end;
  const Picos added = Picos{part.picos()} * e.costs->Rounds() + e.costs->begin.picos();
  const int64_t steps = static_cast<int64_t>(program.steps.size() / 2) * e.costs->Rounds();
  const int64_t window = std::min<int64_t>(steps + 1, n);
  // Members in the order of the ring, unrolled: place u is member order[u mod n].
  const std::vector<int> order = RingOrder(e);
  std::vector<Picos> before(static_cast<size_t>(n) + 1);  // sum of the costs of the links before each place
  for (int i = 0; i < n; ++i) {
    before[i + 1] = before[i] + CostOf(e, 0, static_cast<size_t>(order[i])).received().picos();
  }
  const auto upto = [&](int64_t u) {
    const int64_t turn = u >= 0 ? u / n : -((-u + n - 1) / n);
    return before[n] * turn + before[u - turn * n];
  };
  const auto lead = [&](int64_t u) { return begin[order[((u % n) + n) % n]].picos() - upto(u); };
  std::deque<int64_t> best;  // places in the window, in order of decreasing lead
  end->resize(n);
  if (origin != nullptr) origin->resize(n);
  for (int64_t u = -steps; u < n - steps + window - 1; ++u) {
    while (!best.empty() && lead(best.back()) <= lead(u)) best.pop_back();
    best.push_back(u);
    const int64_t m = u + steps - (window - 1);
    if (m < 0) continue;
    while (best.front() < m - steps) best.pop_front();
    if (origin != nullptr) (*origin)[order[m]] = static_cast<uint32_t>(order[((best.front() % n) + n) % n]);
    const Picos at = lead(best.front()) + upto(m) + added;
    (*end)[order[m]] = at < Time::Never().picos() ? Time::Picos(static_cast<int64_t>(at)) : Time::Never();
  }
}

void FastPath::Evaluate(const PlannedCall& call, uint32_t group, const std::vector<int>& members,
                        uint64_t bytes, const std::vector<Time>& begin, std::vector<Time>* end,
                        std::vector<uint32_t>* origin, uint64_t times) {
  Entry& e = EntryFor(call, group, members, bytes);
  e.times += times;
  const bool together = std::all_of(begin.begin(), begin.end(), [&](Time t) { return t == begin[0]; });
  if (e.uniform && together) {
    if (origin != nullptr) TogetherOrigins(&e, origin);
    end->assign(begin.size(), begin[0] + e.together);
    return;
  }
  if (e.ring) {
    Ring(e, begin, end, origin);
  } else if (together && origin == nullptr && e.period < begin.size()) {
    const std::vector<Time> first(e.period, begin[0]);
    std::vector<Time> ends;
    e.exchange ? Exchange(e, first, &ends, nullptr) : Skewed(e, first, &ends, nullptr);
    end->resize(begin.size());
    for (size_t m = 0; m < begin.size(); ++m) (*end)[m] = ends[m % e.period];
  } else if (e.exchange) {
    Exchange(e, begin, end, origin);
  } else {
    Skewed(e, begin, end, origin);
  }
}

// All members do the same, so the distance of each member's origin from the member is that of member 0's
// origin from member 0.
void FastPath::TogetherOrigins(Entry* e, std::vector<uint32_t>* origin) {
  const int n = e->plan->members;
  if (e->together_origin < 0) {
    const std::vector<Time> zero(static_cast<size_t>(n));
    std::vector<Time> ends;
    if (e->ring) {
      Ring(*e, zero, &ends, origin);
    } else if (e->exchange) {
      Exchange(*e, zero, &ends, origin);
    } else {
      Skewed(*e, zero, &ends, origin);
    }
    e->together_origin = static_cast<int>((*origin)[0]);
  }
  origin->resize(static_cast<size_t>(n));
  for (int m = 0; m < n; ++m) (*origin)[m] = static_cast<uint32_t>((m + e->together_origin) % n);
}

void FastPath::Account() {
  for (Entry* e : in_order_) {
    const int n = e->plan->members, period = static_cast<int>(e->period);
    const auto images = static_cast<uint64_t>(n / period);
    for (size_t c = 0; c < e->offset.size(); ++c) {
      const uint64_t times = e->times * e->sends[c] * static_cast<uint64_t>(e->costs->parts) * images;
      if (e->bytes[c] == 0 || times == 0) continue;
      for (int m = 0; m < period; ++m) {
        machine_->Account((*e->members)[m], (*e->members)[(m + e->offset[c]) % n], e->bytes[c], times);
      }
    }
    e->times = 0;
  }
}

}  // namespace chakra
