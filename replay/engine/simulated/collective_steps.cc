// How the members of a call execute the steps of its plan.
#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "replay/engine/simulated/collective_runner.h"
#include "replay/nccl/planned_call.h"

namespace chakra {

void CollectiveRunner::OpenSteps(Active& a) {
  const Plan& plan = *a.plan;
  a.chunk = EqualChunk(*a.planned, matching_.calls[a.call].bytes);
  const auto copies = static_cast<size_t>(a.planned->costs.at_once);  // copies of the plan's streams and
                                                                      // connections
  const size_t connections = copies * plan.connection_base.back();
  a.streams.resize(copies * plan.stream_base.back());
  a.streams_left.assign(static_cast<size_t>(plan.nodes()), 0);
  a.switches_left = static_cast<uint32_t>(plan.switches.size());
  a.inbox.assign(connections, 0);
  a.waiter.assign(connections, 0);
  const bool exchange = IsExchange(plan);
  if (!exchange) a.sender.assign(connections, 0);  // in an exchange, no stream waits for a message to leave
  a.spread.clear();
  const auto one_card = [](const CallCosts::Level& level) { return level.cards <= 1; };
  a.sends_first = exchange && !keep_causes_ && log_ == nullptr && TimesOf(a.call) == 1 &&
                  a.planned->costs.parts == 1 && costs_.step_overhead == Time::Zero() &&
                  std::all_of(a.planned->costs.levels.begin(), a.planned->costs.levels.end(), one_card);
  if (keep_causes_) a.why.OpenStreams(a.streams.size());
}

void CollectiveRunner::StartNode(uint32_t active, uint32_t member, Time now) {
  Active& a = active_[active];
  const Plan& plan = *a.plan;
  const Program& program = plan.program(static_cast<int>(member));
  const uint32_t base = plan.stream_base[member];
  const auto of_node = static_cast<uint32_t>(program.streams.size());
  const uint32_t streams = of_node * static_cast<uint32_t>(a.planned->costs.at_once);
  // Streams are stored copy after copy of the plan.
  const auto at = [&](uint32_t s) { return s / of_node * plan.stream_base.back() + base + s % of_node; };
  const auto runs = [&](uint32_t s) { return left_out_.empty() || !left_out_[at(s)]; };
  for (uint32_t s = 0; s < streams; ++s) a.streams_left[member] += runs(s) ? 1 : 0;
  for (uint32_t s = 0; s < streams; ++s) {
    const Stream& stream = program.streams[s % of_node];
    StreamRun& run = a.streams[at(s)];
    run = {stream.begin, stream.end, stream.begin, member};
    run.part = static_cast<int>(s / of_node);
    run.connections = plan.connection_base[member] + s / of_node * plan.connection_base.back();
    run.steps = program.steps.data();
    if (plan.loops.empty()) continue;
    const StreamLoop& loop = plan.loops[base + s % of_node];
    run.period = loop.period;
    run.loop = plan.loop_steps.data() + loop.begin;
  }
  CauseRef cause;
  if (keep_causes_) cause = a.why.StartOf(member);
  if (a.streams_left[member] == 0) EndNode(a, member, now, cause);
  const Time begin = member < static_cast<uint32_t>(plan.members) ? a.planned->costs.begin : Time::Zero();
  for (uint32_t s = 0; s < streams; ++s) {
    if (!runs(s)) continue;
    if (keep_causes_) active_[active].why.Continue(at(s), cause);
    if (begin > Time::Zero()) {
      WakeAfter(active_[active], active, at(s), now + begin, Cause::kOverhead);
    } else {
      Run(active, at(s), now);
    }
  }
}

uint64_t CollectiveRunner::StepBytes(const Active& a, const Step& step, uint32_t member, int part) const {
  if (a.chunk != kUneven) return a.chunk * static_cast<uint64_t>(step.count);
  const Plan& plan = *a.plan;
  const uint64_t bytes = matching_.calls[a.call].bytes;
  const auto cut = [&](int p) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(bytes) * static_cast<unsigned>(p) /
                                 static_cast<unsigned>(a.planned->costs.parts));
  };
  return StepBytesOf(plan, cut(part + 1) - cut(part), static_cast<int>(member), step);
}

uint32_t CollectiveRunner::ReceiverOf(const Plan& plan, const StreamRun& run, const Step& step) const {
  auto to = static_cast<uint32_t>(step.peer);
  if (!plan.rotational) return to;
  to += run.member;
  return to >= static_cast<uint32_t>(plan.members) ? to - static_cast<uint32_t>(plan.members) : to;
}

Flow CollectiveRunner::FlowOf(const Active& a, uint32_t active, const StreamRun& run, const Step& step,
                              uint32_t to) const {
  Flow flow;
  flow.src = Endpoint(a, run.member);
  flow.dst = Endpoint(a, to);
  flow.bytes = StepBytes(a, step, run.member, run.part);
  if (const CallCosts& costs = a.planned->costs; !costs.levels.empty()) {
    const int level = machine_->Level(flow.src, flow.dst);
    flow.wire_bytes = costs.OnWire(flow.bytes, level);
    flow.delay = costs.levels[static_cast<size_t>(level)].latency;
    flow.limit = costs.levels[static_cast<size_t>(level)].limit;
  }
  const uint64_t connection = ConnectionOf(a, run, step, to);
  flow.tag = uint64_t{active} << (kConnectionBits + kLaneBits) | connection;
  flow.in_order = true;
  return flow;
}

class CollectiveRunner::MemberSends final : public FlowList {
 public:
  // The call stays open until all its messages have been received; the runner must outlive the list.
  MemberSends(const CollectiveRunner* runner, uint32_t active, uint32_t stream, uint32_t sends)
      : FlowList(sends), runner_(runner), active_(active), stream_(stream) {}
  Flow At(uint32_t i) const override {
    const Active& a = runner_->active_[active_];
    const StreamRun& run = a.streams[stream_];
    const Step& step = a.plan->program(static_cast<int>(run.member)).steps[run.begin + i];
    return runner_->FlowOf(a, active_, run, step, runner_->ReceiverOf(*a.plan, run, step));
  }

 private:
  const CollectiveRunner* runner_;
  uint32_t active_, stream_;
};

void CollectiveRunner::SendAll(uint32_t active, uint32_t stream, Time now) {
  Active& a = active_[active];
  StreamRun& run = a.streams[stream];
  const uint32_t sends = (run.end - run.begin) / 2;
  run.next += sends;
  counts_.CountFlow(sends);
  machine_->StartAll(std::make_shared<MemberSends>(this, active, stream, sends), now);
}

// Returns true if the stream must wait: for its overhead, or until the message has left.
bool CollectiveRunner::Send(uint32_t active, uint32_t stream, const Step& step, Time now) {
  Active& a = active_[active];
  StreamRun& run = a.streams[stream];
  if (costs_.step_overhead > Time::Zero() && !run.paid && IsMember(a, run)) {
    run.paid = true;
    WakeAfter(a, active, stream, now + costs_.step_overhead, Cause::kOverhead);
    return true;
  }
  ++run.next;
  run.paid = SharesStep(&step) && run.next < run.end && IsSend(run.Next().op);
  const uint32_t to = ReceiverOf(*a.plan, run, step);
  const bool wait = step.op == StepOp::kSendWait;
  Flow flow = FlowOf(a, active, run, step, to);
  flow.want_sent = wait;
  const uint64_t connection = ConnectionOf(a, run, step, to);
  run.busy = wait;
  if (wait) a.sender[connection] = stream + 1;
  if (keep_causes_) a.why.Send(stream, connection, flow);
  int cards = 1;
  if (!a.planned->costs.levels.empty() && !machine_->contention_free() && IsMember(a, run) &&
      to < static_cast<uint32_t>(a.plan->members)) {
    cards = a.planned->costs.levels[static_cast<size_t>(machine_->Level(flow.src, flow.dst))].cards;
  }
  if (cards > 1) {
    SendSpread(a, flow, run, to, cards, now);
  } else {
    Start(a, run, flow, now);
  }
  return wait;
}

void CollectiveRunner::Start(const Active& a, const StreamRun& run, const Flow& flow, Time now) {
  if (log_ != nullptr) {
    const CollectiveCall& call = matching_.calls[a.call];
    log_->Name({chakra::Name(call.type), matching_.groups[call.group].name, first_call_ + a.call,
                run.next - run.begin - 1, static_cast<uint32_t>(run.part)});
  }
  machine_->Start(flow, now);
  const uint64_t times = TimesOf(a.call);
  counts_.CountFlow(times);
  if (times > 1) machine_->Account(flow.src, flow.dst, flow.OnLinks(), times - 1);
}

void CollectiveRunner::SendSpread(Active& a, const Flow& flow, const StreamRun& run, uint32_t to, int cards,
                                  Time now) {
  const uint32_t from = run.member;
  const NodeLanes& lanes = lanes_.Of(matching_.calls[a.call].group, a.planned->costs);
  const auto start = [&](Flow part, std::pair<int, int> ends) {
    std::tie(part.src, part.dst) = ends;
    part.delay += lanes_.DelayOf(flow.src, flow.dst, part.src, part.dst, part.OnLinks(), part.limit);
    Start(a, run, part, now);
  };
  if (one_rail_) return start(flow, lanes.OnRail(from, to, 0));
  const CardShare share(flow.limit, cards, std::min(lanes.Cards(from, to), 1 << kLaneBits));
  a.spread.Start(ConnectionOf(flow.tag), share.cards);
  for (int lane = 0; lane < share.cards; ++lane) {
    Flow part = flow;
    part.bytes = share.Of(flow.bytes, lane);
    part.wire_bytes = share.Of(flow.bytes, 0);  // padded to equal parts, so that all NICs carry the same
    part.limit = share.limit;
    part.tag |= static_cast<uint64_t>(lane) << kConnectionBits;
    start(part, lanes.Ends(from, to, lane));
  }
}

bool CollectiveRunner::HasDone(const StreamRun& run, const StreamRun& other, const Step& step) const {
  if (other.part != run.part) return other.part > run.part;
  return other.next - other.begin - (other.busy ? 1 : 0) >= static_cast<uint32_t>(step.chunk);
}

void CollectiveRunner::WakeAwaiting(uint32_t active, uint32_t stream, Time now) {
  Active& a = active_[active];
  StreamRun& done = a.streams[stream];
  const size_t first = wakes_.size();
  while (done.first_awaiting != 0) {
    const uint32_t s = done.first_awaiting - 1;
    StreamRun& run = a.streams[s];
    if (!HasDone(run, done, run.Next())) break;  // the streams after it in the list wait for later steps
    done.first_awaiting = std::exchange(run.next_awaiting, 0);
    if (keep_causes_) a.why.Continue(s, a.why.stream(stream));
    wakes_.push_back({now, active, s});
  }
  std::sort(wakes_.begin() + static_cast<std::ptrdiff_t>(first), wakes_.end(),
            [](const Wake& x, const Wake& y) { return x.stream < y.stream; });
}

void CollectiveRunner::Await(Active& a, uint32_t stream, StreamRun* other) {
  const auto goal = [](const StreamRun& run) { return std::pair(run.part, run.Next().chunk); };
  StreamRun& run = a.streams[stream];
  uint32_t* link = &other->first_awaiting;
  while (*link != 0 && goal(a.streams[*link - 1]) < goal(run)) link = &a.streams[*link - 1].next_awaiting;
  run.next_awaiting = std::exchange(*link, stream + 1);
}

bool CollectiveRunner::Local(uint32_t active, uint32_t stream, const Step& step, Time now) {
  Active& a = active_[active];
  StreamRun& run = a.streams[stream];
  if (step.op == StepOp::kAwait) {
    const uint32_t all = a.plan->stream_base.back();
    StreamRun& other =
        a.streams[stream / all * all + a.plan->stream_base[run.member] + static_cast<uint32_t>(step.peer)];
    if (!HasDone(run, other, step)) {
      Await(a, stream, &other);
      return true;
    }
    ++run.next;
    return false;
  }
  ++run.next;
  const uint64_t touched = step.op == StepOp::kCopy ? 2 : 3;  // times each byte is read or written
  const bool free = costs_.reduce_bandwidth.bytes_per_second() == 0 || !IsMember(a, run);
  if (free) return false;
  const uint64_t bytes = touched * StepBytes(a, step, run.member, run.part);
  if (bytes == 0) return false;
  run.busy = true;
  WakeAfter(a, active, stream, now + TransferTime(bytes, costs_.reduce_bandwidth), Cause::kReduce);
  return true;
}

void CollectiveRunner::Run(uint32_t active, uint32_t stream, Time now) {
  active_[active].streams[stream].busy = false;
  while (true) {
    Active& a = active_[active];
    StreamRun& run = a.streams[stream];
    if (run.first_awaiting != 0) WakeAwaiting(active, stream, now);
    if (run.next < run.end) {
      const Step step = run.Next();
      if (a.sends_first && run.next == run.begin) {
        SendAll(active, stream, now);
        continue;
      }
      if (step.op == StepOp::kSend || step.op == StepOp::kSendWait) {
        if (Send(active, stream, step, now)) return;
        continue;
      }
      if (!IsReceive(step.op)) {
        if (Local(active, stream, step, now)) return;
        continue;
      }
      const uint32_t connection = run.connections + step.connection;
      if (a.inbox[connection] == 0) {
        a.waiter[connection] = stream + 1;
        return;
      }
      --a.inbox[connection];
      ++run.next;
      if (IsReduction(step.op)) {
        const Time reduce = costs_.reduce_bandwidth.bytes_per_second() == 0
                                ? Time::Zero()
                                : ReduceTime(costs_, step.op, StepBytes(a, step, run.member, run.part));
        if (reduce > Time::Zero() && IsMember(a, run)) {
          run.busy = true;
          WakeAfter(a, active, stream, now + reduce, Cause::kReduce);
          return;
        }
      }
      continue;
    }
    // One more overhead ends each part.
    const CallCosts& costs = a.planned->costs;
    const Time close = costs_.step_overhead + costs.part_end;
    if (close > Time::Zero() && !run.paid && IsMember(a, run)) {
      run.paid = true;
      WakeAfter(a, active, stream, now + close, Cause::kOverhead);
      return;
    }
    run.paid = false;
    run.part += costs.at_once;
    if (run.part < costs.parts) {
      run.next = run.begin;
      continue;
    }
    if (run.first_awaiting != 0) WakeAwaiting(active, stream, now);
    if (--a.streams_left[run.member] == 0) {
      EndNode(a, run.member, now, keep_causes_ ? a.why.stream(stream) : CauseRef());
    }
    return;
  }
}

void CollectiveRunner::OnFlow(const FlowEnd& end, Time now) {
  const auto active = SlotOf(end.tag);
  const uint64_t connection = ConnectionOf(end.tag);
  Active& a = active_[active];
  const auto card = static_cast<uint32_t>(end.tag >> kConnectionBits) & ((1u << kLaneBits) - 1);
  if (!a.spread.empty() && !a.spread.Ended(connection, card, end.kind)) return;
  if (end.kind == FlowEnd::kSent) {
    const uint32_t stream = a.sender[connection] - 1;
    a.sender[connection] = 0;
    if (keep_causes_) a.why.Left(stream, connection, Whose(a, a.streams[stream].member), now);
    Run(active, stream, now);
    return;
  }
  ++a.inbox[connection];
  const uint32_t waiter = a.waiter[connection];
  if (keep_causes_ && waiter == 0) a.why.Received(connection);
  if (keep_causes_ && waiter != 0)
    a.why.Received(connection, waiter - 1, Whose(a, a.streams[waiter - 1].member), now);
  if (waiter != 0) {
    a.waiter[connection] = 0;
    Run(active, waiter - 1, now);
  }
}

void CollectiveRunner::WakeAfter(Active& a, uint32_t active, uint32_t stream, Time at, Cause::Kind kind) {
  wakes_.push_back({at, active, stream});
  if (keep_causes_) a.why.Spend(stream, Whose(a, a.streams[stream].member).Until(at, kind));
}

}  // namespace chakra
