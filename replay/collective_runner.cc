#include "replay/collective_runner.h"

#include <algorithm>

namespace chakra {

uint64_t BufferBytes(CollectiveType type, uint64_t comm_size, int ranks) {
  const bool grows = type == CollectiveType::kAllGather || type == CollectiveType::kGather;
  return grows ? comm_size * static_cast<uint64_t>(ranks) : comm_size;
}

absl::Status CollectiveRunner::Prepare() {
  plan_of_.assign(matching_.calls.size(), nullptr);
  calls_.assign(matching_.calls.size(), CallState());
  totals_.resize(matching_.groups.size());
  for (size_t i = 0; i < matching_.calls.size(); ++i) {
    const CollectiveCall& call = matching_.calls[i];
    const int members = static_cast<int>(matching_.groups[call.group].members.size());
    calls_[i].left = static_cast<uint32_t>(members);
    if (members < 2) continue;
    absl::StatusOr<const Plan*> plan = plans_.Get(call.type, members, call.root);
    if (!plan.ok()) return plan.status();
    plan_of_[i] = *plan;
  }
  return absl::OkStatus();
}

bool CollectiveRunner::Arrived(uint32_t call, uint32_t member) const {
  const CallState& state = calls_[call];
  if (state.over) return true;
  return state.active != kNoRow && active_[state.active].row[member] != kNoRow;
}

uint32_t CollectiveRunner::Open(uint32_t call, Time now) {
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
  a.plan = plan_of_[call];
  a.first = now;
  a.last_end = now;
  a.row.assign(members, kNoRow);
  a.begin.assign(members, Time::Zero());
  a.fast = a.plan != nullptr && fast_paths_ && fast_.Applies(*a.plan, c.bytes);
  if (a.plan == nullptr || a.fast) return index;
  const Plan& plan = *a.plan;
  const auto splits = static_cast<uint64_t>(costs_.splits);
  const uint64_t pieces = plan.chunk_is_whole ? splits : splits * static_cast<uint64_t>(plan.chunks);
  a.chunk = c.bytes % pieces == 0 ? c.bytes / pieces : kUneven;
  a.streams.resize(plan.stream_base.back());
  a.streams_left.assign(members, 0);
  a.inbox.assign(plan.connection_base.back(), 0);
  a.waiter.assign(plan.connection_base.back(), 0);
  a.sender.assign(plan.connection_base.back(), 0);
  return index;
}

void CollectiveRunner::Arrive(uint32_t call, uint32_t member, uint32_t row, Time now) {
  CallState& state = calls_[call];
  if (state.active == kNoRow) state.active = Open(call, now);
  const uint32_t index = state.active;
  Active& a = active_[index];
  a.row[member] = row;
  a.begin[member] = now;
  a.last_arrival = now;
  ++state.arrived;
  if (a.plan == nullptr) {
    EndMember(a, member, now);
  } else if (!a.fast) {
    StartMember(index, member, now);
  } else if (state.arrived == a.row.size()) {
    RunFast(index);
  }
}

void CollectiveRunner::RunFast(uint32_t active) {
  Active& a = active_[active];
  const CollectiveCall& call = matching_.calls[a.call];
  fast_.Evaluate(*a.plan, call.group, matching_.groups[call.group].members, call.bytes, a.begin, &ends_);
  ++fast_calls_;
  if (std::all_of(ends_.begin(), ends_.end(), [&](Time t) { return t == ends_[0]; })) {
    wakes_.push_back({ends_[0], active, kWholeCall});  // one event in place of one a member
    return;
  }
  const auto members = static_cast<uint32_t>(ends_.size());
  for (uint32_t m = 0; m < members; ++m) EndMember(active_[active], m, ends_[m]);
}

void CollectiveRunner::EndTogether(uint32_t active, Time at) {
  const auto members = static_cast<uint32_t>(active_[active].row.size());
  for (uint32_t m = 0; m < members; ++m) EndMember(active_[active], m, at);
}

void CollectiveRunner::StartMember(uint32_t active, uint32_t member, Time now) {
  Active& a = active_[active];
  const Plan& plan = *a.plan;
  const Program& program = plan.program(static_cast<int>(member));
  const uint32_t base = plan.stream_base[member];
  const auto streams = static_cast<uint32_t>(program.streams.size());
  a.streams_left[member] = streams;
  for (uint32_t s = 0; s < streams; ++s) {
    const Stream& stream = program.streams[s];
    a.streams[base + s] = {stream.begin, stream.end, stream.begin, member, 0, false};
  }
  for (uint32_t s = 0; s < streams; ++s) Run(active, base + s, now);
}

uint64_t CollectiveRunner::StepBytes(const Active& a, const Step& step, uint32_t member, int part) const {
  if (a.chunk != kUneven) return a.chunk * static_cast<uint64_t>(step.count);
  const Plan& plan = *a.plan;
  const uint64_t bytes = matching_.calls[a.call].bytes;
  const auto cut = [&](int p) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(bytes) * static_cast<unsigned>(p) /
                                 static_cast<unsigned>(costs_.splits));
  };
  const int chunk = plan.rotational
                        ? static_cast<int>((static_cast<int64_t>(step.chunk) + member) % plan.chunks)
                        : step.chunk;
  return ChunkBytes(plan, cut(part + 1) - cut(part), chunk, step.count);
}

// True if the stream must wait (for its overhead, or until the message left).
bool CollectiveRunner::Send(uint32_t active, uint32_t stream, const Step& step, Time now) {
  Active& a = active_[active];
  StreamRun& run = a.streams[stream];
  if (costs_.step_overhead > Time::Zero() && !run.paid) {
    run.paid = true;
    wakes_.push_back({now + costs_.step_overhead, active, stream});
    return true;
  }
  run.paid = false;
  ++run.next;
  const Plan& plan = *a.plan;
  const std::vector<int>& members = matching_.groups[matching_.calls[a.call].group].members;
  uint32_t to = static_cast<uint32_t>(step.peer);
  if (plan.rotational) {
    to += run.member;
    if (to >= static_cast<uint32_t>(plan.members)) to -= static_cast<uint32_t>(plan.members);
  }
  const uint64_t connection = plan.connection_base[to] + step.connection;
  const bool wait = step.op == StepOp::kSendWait;
  if (wait) a.sender[connection] = stream + 1;
  Flow flow;
  flow.src = members[run.member];
  flow.dst = members[to];
  flow.bytes = StepBytes(a, step, run.member, run.part);
  flow.tag = uint64_t{active} << kConnectionBits | connection;
  flow.want_sent = wait;
  fabric_->Start(flow, now);
  ++flows_;
  return wait;
}

void CollectiveRunner::Run(uint32_t active, uint32_t stream, Time now) {
  while (true) {
    Active& a = active_[active];
    StreamRun& run = a.streams[stream];
    const Program& program = a.plan->program(static_cast<int>(run.member));
    if (run.next < run.end) {
      const Step& step = program.steps[run.next];
      if (step.op == StepOp::kSend || step.op == StepOp::kSendWait) {
        if (Send(active, stream, step, now)) return;
        continue;
      }
      const uint32_t connection = a.plan->connection_base[run.member] + step.connection;
      if (a.inbox[connection] == 0) {
        a.waiter[connection] = stream + 1;
        return;
      }
      --a.inbox[connection];
      ++run.next;
      if (step.op == StepOp::kRecvReduce) {
        const Time reduce = costs_.reduce_bandwidth.bytes_per_second() == 0
                                ? Time::Zero()
                                : ReduceTime(costs_, StepBytes(a, step, run.member, run.part));
        if (reduce > Time::Zero()) {
          wakes_.push_back({now + reduce, active, stream});
          return;
        }
      }
      continue;
    }
    // The end of a part, which one more overhead closes.
    if (costs_.step_overhead > Time::Zero() && !run.paid) {
      run.paid = true;
      wakes_.push_back({now + costs_.step_overhead, active, stream});
      return;
    }
    run.paid = false;
    if (++run.part < costs_.splits) {
      run.next = run.begin;
      continue;
    }
    if (--a.streams_left[run.member] == 0) EndMember(a, run.member, now);
    return;
  }
}

void CollectiveRunner::OnFlow(const FlowEnd& end, Time now) {
  const auto active = static_cast<uint32_t>(end.tag >> kConnectionBits);
  const uint64_t connection = end.tag & ((uint64_t{1} << kConnectionBits) - 1);
  Active& a = active_[active];
  if (end.kind == FlowEnd::kSent) {
    const uint32_t stream = a.sender[connection] - 1;
    a.sender[connection] = 0;
    Run(active, stream, now);
    return;
  }
  ++a.inbox[connection];
  if (const uint32_t waiter = a.waiter[connection]; waiter != 0) {
    a.waiter[connection] = 0;
    Run(active, waiter - 1, now);
  }
}

void CollectiveRunner::EndMember(Active& a, uint32_t member, Time at) {
  const CollectiveCall& call = matching_.calls[a.call];
  ended_.push_back({static_cast<uint32_t>(matching_.groups[call.group].members[member]), a.row[member], at});
  a.last_end = std::max(a.last_end, at);
  if (--calls_[a.call].left == 0) Close(a);
}

void CollectiveRunner::Close(Active& a) {
  const CollectiveCall& call = matching_.calls[a.call];
  const GroupInfo& group = matching_.groups[call.group];
  CollectiveMetrics& total = totals_[call.group][static_cast<size_t>(call.type)];
  ++total.count;
  total.ranks = static_cast<int>(group.members.size());
  total.bytes += BufferBytes(call.type, call.bytes, total.ranks);
  total.time += a.last_end - a.last_arrival;
  total.wait += a.last_arrival - a.first;
  if (total.algorithm.empty() && a.plan != nullptr) total.algorithm = a.plan->algorithm;
  CallState& state = calls_[a.call];
  state.over = true;
  free_.push_back(state.active);
  state.active = kNoRow;
}

void CollectiveRunner::Report(Metrics* metrics) {
  fast_.Account();
  for (size_t g = 0; g < totals_.size(); ++g) {
    for (int type = 0; type < kCollectiveTypes; ++type) {
      const CollectiveMetrics& total = totals_[g][static_cast<size_t>(type)];
      if (total.count == 0) continue;
      metrics->collectives[{std::string(Name(static_cast<CollectiveType>(type))), matching_.groups[g].name}] =
          total;
    }
  }
  metrics->flows += flows_;
  metrics->fast_collectives += fast_calls_;
}

}  // namespace chakra
