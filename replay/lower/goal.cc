#include "replay/lower/goal.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/collectives/registry.h"
#include "replay/engine/lanes.h"
#include "replay/engine/match/match.h"
#include "replay/engine/price.h"
#include "replay/nccl/fast_path.h"
#include "replay/nccl/planner.h"
#include "replay/run/simulate.h"
#include "trace/base/status_macros.h"
#include "trace/import/locate.h"
#include "trace/model/any_order.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

using goal::GoalDep;
using goal::GoalOp;
using goal::GoalRank;
using goal::OpType;

constexpr int kMostCpus = 256;

class Lowering {
 public:
  Lowering(const TraceSet& traces, const std::vector<ComputeTimes>& times, const ClusterModel& cluster,
           const MachineView& machine, const Matching& matching)
      : traces_(traces),
        times_(times),
        distinct_(traces),
        memory_(cluster.memory),
        costs_(cluster.collectives),
        matching_(matching),
        planner_(machine, costs_, PriceUncontended) {}
  absl::StatusOr<goal::Program> Run(std::vector<std::string>* notes);

 private:
  // The operations of a row: one at its start, one at its end, and for computation that releases other rows
  // before its end, the operations that end at these releases.
  struct Lowered {
    uint32_t first = 0, last = 0;
    std::map<int64_t, uint32_t> at;  // by release
  };
  absl::Status PlanCalls();
  absl::Status LowerRank(uint32_t r);
  absl::Status LowerRow(uint32_t r, uint32_t row);
  absl::Status Computation(uint32_t r, uint32_t row, Lowered* out);
  absl::Status Memory(uint32_t r, uint32_t row, Lowered* out);
  void Message(uint32_t r, uint32_t row, Lowered* out);
  absl::Status Collective(uint32_t r, uint32_t row, Lowered* out);
  void Steps(const Plan& plan, uint32_t call, uint32_t member, uint8_t cpu, const Lowered& whole);
  void Wait(uint32_t r, uint32_t row);
  void NumberCpus(uint32_t r);
  uint32_t Add(const GoalOp& op) {
    out_.ops.push_back(op);
    return static_cast<uint32_t>(out_.ops.size() - 1);
  }
  uint32_t Calc(Time time, uint8_t cpu) {
    // GOAL counts whole nanoseconds.
    return Add({OpType::kCalc, cpu, 0, 0, 0, static_cast<uint64_t>((time.picos() + 500) / 1000)});
  }
  void Requires(uint32_t op, uint32_t of, bool start = false) { out_.deps.push_back({op, of, start}); }

  const TraceSet& traces_;
  const std::vector<ComputeTimes>& times_;
  const DistinctGraphs distinct_;
  const MemoryModel& memory_;
  const CollectiveCosts& costs_;
  const Matching& matching_;
  CollectivePlanner planner_;
  PlanCache plain_;
  std::vector<const Plan*> plan_of_;  // by call; null: one member, or no size
  std::vector<uint32_t> tag_of_;      // by call: the first of its tags
  GoalRank out_;                      // the rank that is being lowered
  std::vector<Lowered> rows_;
  std::vector<uint8_t> cpu_of_;  // by row
  uint64_t delays_ = 0, in_switch_ = 0, shared_cpus_ = 0;
};

absl::Status Lowering::PlanCalls() {
  uint64_t tag = 0;
  for (const MatchedMessage& m : matching_.messages)
    tag = std::max(tag, static_cast<uint64_t>(std::max(m.tag, -1)) + 1);
  for (size_t i = 0; i < matching_.calls.size(); ++i) {
    const CollectiveCall& call = matching_.calls[i];
    const GroupInfo& group = matching_.groups[call.group];
    plan_of_.push_back(nullptr);
    tag_of_.push_back(static_cast<uint32_t>(tag));
    if (call.kept || group.members.size() < 2) continue;
    ASSIGN_OR_RETURN(const PlannedCall* planned,
                     planner_.Get(call.type, call.bytes, call.root, group.members, group.name, call.kernel));
    const Plan* plan = planned->plan;
    if (plan == nullptr || !plan->switches.empty()) {
      ++in_switch_;
      ASSIGN_OR_RETURN(plan, plain_.Get({.type = call.type,
                                         .members = static_cast<int>(group.members.size()),
                                         .root = IsRooted(call.type) ? call.root : 0}));
    }
    plan_of_.back() = plan;
    uint32_t connections = 0;
    for (const Program& p : plan->programs) connections = std::max(connections, p.connections);
    tag += connections;
    if (tag > INT32_MAX)
      return absl::InvalidArgumentError(
          "collectives of more than 2^31 messages need more tags than there are");
  }
  return absl::OkStatus();
}

void Lowering::NumberCpus(uint32_t r) {
  const Graph& g = *traces_.ranks[r].graph;
  cpu_of_.assign(g.size(), 0);
  if (g.lane.empty()) return;
  std::map<std::pair<bool, int32_t>, int> number;  // device or host, lane
  for (const uint32_t row : g.order) {
    if (InAnyOrder(g, row) && g.lane[row] >= 0) {
      cpu_of_[row] = static_cast<uint8_t>(g.lane[row] % 256);
      continue;
    }
    if (!RunsOnRecordedLane(g, row)) continue;
    const auto [it, fresh] =
        number.try_emplace({!g.is_cpu(row), g.lane[row]}, static_cast<int>(number.size()));
    if (it->second >= kMostCpus) ++shared_cpus_;
    cpu_of_[row] = static_cast<uint8_t>(std::min(it->second, kMostCpus - 1));
  }
}

absl::Status Lowering::Computation(uint32_t r, uint32_t row, Lowered* out) {
  const Graph& g = *traces_.ranks[r].graph;
  const Time time = times_[distinct_.of_rank[r]].time[row];
  std::set<int64_t> cuts;
  for (uint32_t i = g.child_begin[row]; i < g.child_begin[row + 1] && !g.child_release.empty(); ++i) {
    if (g.child_release[i] > 0 && g.child_release[i] < kReleaseAtEnd) cuts.insert(g.child_release[i]);
  }
  Time done;
  cuts.insert(kReleaseAtEnd);
  for (const int64_t cut : cuts) {
    const Time until = ReleasedAfter(time, cut);
    const uint32_t op = Calc(until - done, cpu_of_[row]);
    if (done == Time::Zero() && out->at.empty()) {
      out->first = op;
    } else {
      Requires(op, out->last);
    }
    out->last = op;
    out->at[cut] = op;
    done = until;
  }
  return absl::OkStatus();
}

absl::Status Lowering::Memory(uint32_t r, uint32_t row, Lowered* out) {
  const Graph& g = *traces_.ranks[r].graph;
  if (memory_.bandwidth.bytes_per_second() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(DescribeNode(traces_.ranks[r], row),
                     ": the cluster has no memory for it; expected --cluster with "
                     "device.memory_gbytes_per_s"));
  }
  const uint64_t bytes = g.payload[row] == kNoRow ? 0 : g.work[g.payload[row]].tensor_bytes;
  out->first = out->last = Calc(memory_.latency + TransferTime(bytes, memory_.bandwidth), cpu_of_[row]);
  return absl::OkStatus();
}

void Lowering::Message(uint32_t r, uint32_t row, Lowered* out) {
  const Graph& g = *traces_.ranks[r].graph;
  const bool send = g.type[row] == NodeType::kSend;
  const MatchedMessage& m = matching_.messages[matching_.slots[r][g.payload[row]].index];
  GoalOp op;
  op.type = send ? OpType::kSend : OpType::kRecv;
  op.cpu = cpu_of_[row];
  if (!g.lane.empty() && InAnyOrder(g, row) && g.lane[row] >= 0)
    op.nic = static_cast<uint8_t>(g.lane[row] / 256 % 256);
  op.peer = static_cast<uint32_t>(send ? m.dst : m.src);
  op.tag = static_cast<uint32_t>(m.tag);
  op.size = std::max<uint64_t>(1, m.bytes);
  out->first = out->last = Add(op);
}

// Adds the steps of one member. After a step that only starts a message, the next step waits for the step's
// begin.
void Lowering::Steps(const Plan& plan, uint32_t call, uint32_t member, uint8_t cpu, const Lowered& whole) {
  const Program& program = plan.program(static_cast<int>(member));
  const GroupInfo& group = matching_.groups[matching_.calls[call].group];
  const uint64_t bytes = matching_.calls[call].bytes;
  struct Done {
    uint32_t op;
    bool start;  // whether the next step waits only for its start
  };
  std::vector<std::vector<Done>> done(program.streams.size());             // by stream and step
  std::vector<std::pair<uint32_t, std::pair<uint32_t, uint32_t>>> awaits;  // operation, (stream, step)
  for (uint32_t s = 0; s < program.streams.size(); ++s) {
    Done before{whole.first, false};
    for (uint32_t i = program.streams[s].begin; i < program.streams[s].end; ++i) {
      const Step& step = program.steps[i];
      Done now = before;
      const uint64_t size = StepBytesOf(plan, bytes, static_cast<int>(member), step);
      if (IsSend(step.op) || IsReceive(step.op)) {
        const int peer = plan.rotational ? (step.peer + static_cast<int>(member)) % plan.members : step.peer;
        GoalOp op;
        op.type = IsSend(step.op) ? OpType::kSend : OpType::kRecv;
        op.cpu = cpu;
        op.peer = static_cast<uint32_t>(group.members[static_cast<size_t>(peer)]);
        op.tag = tag_of_[call] + step.connection;
        op.size = std::max<uint64_t>(1, size);
        now = {Add(op), step.op == StepOp::kSend};
        Requires(now.op, before.op, before.start);
      }
      const Time added =
          step.op == StepOp::kReduce ? ReduceTime(costs_, size) : ReduceTime(costs_, step.op, size);
      if (added > Time::Zero()) {
        const uint32_t op = Calc(added, cpu);
        Requires(op, now.op, now.start);
        now = {op, false};
      }
      if (step.op == StepOp::kAwait) {
        const uint32_t op = Calc(Time::Zero(), cpu);
        Requires(op, before.op, before.start);
        if (step.chunk > 0)
          awaits.push_back({op, {static_cast<uint32_t>(step.peer), static_cast<uint32_t>(step.chunk) - 1}});
        now = {op, false};
      }
      done[s].push_back(now);
      before = now;
    }
    Requires(whole.last, before.op, before.start);
  }
  for (const auto& [op, of] : awaits) {
    const std::vector<Done>& of_stream = done[of.first];
    const Done& d = of_stream[std::min<size_t>(of.second, of_stream.size() - 1)];
    Requires(op, d.op, d.start);
  }
}

absl::Status Lowering::Collective(uint32_t r, uint32_t row, Lowered* out) {
  const Graph& g = *traces_.ranks[r].graph;
  const CommSlot slot = matching_.slots[r][g.payload[row]];
  const Plan* plan = plan_of_[slot.index];
  const uint8_t cpu = cpu_of_[row];
  out->first = Calc(plan == nullptr ? g.duration[row] : Time::Zero(), cpu);
  out->last = out->first;
  if (plan == nullptr) return absl::OkStatus();
  out->last = Calc(Time::Zero(), cpu);
  Steps(*plan, slot.index, slot.member, cpu, *out);
  return absl::OkStatus();
}

// Makes the row wait for its dependencies; a dependency with a delay becomes a calc in between.
void Lowering::Wait(uint32_t r, uint32_t row) {
  const Graph& g = *traces_.ranks[r].graph;
  for (uint32_t e = g.dep_begin[row]; e < g.dep_begin[row + 1]; ++e) {
    const Lowered& of = rows_[g.dep[e]];
    const int64_t release = g.dep_release.empty() ? kReleaseAtEnd : g.dep_release[e];
    const auto it = of.at.find(release);
    const bool start = release == 0;
    const uint32_t op = start ? of.first : it == of.at.end() ? of.last : it->second;
    const Time delay = g.dep_delay.empty() ? Time::Zero() : g.dep_delay[e];
    uint32_t waits = rows_[row].first;
    if (delay > Time::Zero()) {
      ++delays_;
      const uint32_t gap = Calc(delay, cpu_of_[row]);
      Requires(waits, gap);
      waits = gap;
    }
    Requires(waits, op, start);
  }
}

absl::Status Lowering::LowerRow(uint32_t r, uint32_t row) {
  const Graph& g = *traces_.ranks[r].graph;
  Lowered& out = rows_[row];
  switch (g.type[row]) {
    case NodeType::kComp:
      return Computation(r, row, &out);
    case NodeType::kSend:
    case NodeType::kRecv:
      Message(r, row, &out);
      return absl::OkStatus();
    case NodeType::kCollective:
      return Collective(r, row, &out);
    case NodeType::kMemLoad:
    case NodeType::kMemStore:
      return Memory(r, row, &out);
    default:
      out.first = out.last = Calc(Time::Zero(), cpu_of_[row]);
      return absl::OkStatus();
  }
}

absl::Status Lowering::LowerRank(uint32_t r) {
  const RankTrace& trace = traces_.ranks[r];
  const Graph& g = *trace.graph;
  out_ = GoalRank();
  rows_.assign(g.size(), {});
  NumberCpus(r);
  for (uint32_t row = 0; row < g.size(); ++row) {
    RETURN_IF_ERROR(LowerRow(r, row));
  }
  for (uint32_t row = 0; row < g.size(); ++row) Wait(r, row);
  const GraphLanes lanes = LanesOfGraph(g, LanePolicy::kRecorded);
  for (uint32_t row = 0; row < lanes.chain_next.size(); ++row) {
    if (lanes.chain_next[row] != kNoRow) Requires(rows_[lanes.chain_next[row]].first, rows_[row].last);
  }
  const RankLanes own = LanesOfRank(trace, LanePolicy::kRecorded, matching_);
  for (uint32_t row = 0; row < g.size(); ++row) {
    if (g.type[row] < NodeType::kSend || own.comm_next.empty()) continue;
    // Sends of a GOAL program have only the order that the program states.
    const uint32_t next = own.comm_next[g.payload[row]];
    if (next != kNoRow && !InAnyOrder(g, row)) Requires(rows_[next].first, rows_[row].last);
  }
  out_.SortDeps();
  return absl::OkStatus();
}

absl::StatusOr<goal::Program> Lowering::Run(std::vector<std::string>* notes) {
  RETURN_IF_ERROR(PlanCalls());
  goal::Program program;
  for (uint32_t r = 0; r < traces_.ranks.size(); ++r) {
    RETURN_IF_ERROR(LowerRank(r));
    program.ranks.push_back(std::move(out_));
  }
  if (delays_ > 0)
    notes->push_back(
        absl::StrCat(delays_, " delays of dependencies became computation of the rank that waits"));
  if (in_switch_ > 0)
    notes->push_back(absl::StrCat(
        in_switch_,
        " collectives would run inside switches, which GOAL does not have; they use the default algorithm"));
  if (shared_cpus_ > 0)
    notes->push_back(absl::StrCat(shared_cpus_, " nodes of lanes beyond the 256th share a cpu"));
  if (costs_.splits > 1) notes->push_back("collectives.splits is ignored: collectives are not split");
  return program;
}

}  // namespace

absl::StatusOr<goal::Program> LowerToGoal(const TraceSet& traces, const std::vector<ComputeTimes>& times,
                                          const ClusterModel& cluster, const MachineView& machine,
                                          std::vector<std::string>* notes) {
  ASSIGN_OR_RETURN(Matching matching, MatchCommunication(traces, DimensionSizes(cluster)));
  notes->insert(notes->end(), matching.warnings.begin(), matching.warnings.end());
  return Lowering(traces, times, cluster, machine, matching).Run(notes);
}

}  // namespace chakra
