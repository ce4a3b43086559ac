// A call whose flows never delay each other, step by step without events: TimesOfSteps().
//
// The arrival of a message follows from the time when it left, whatever else is under way. So each stream has
// its own clock and runs as far as its messages have arrived; the order of the streams does not matter.
#include <algorithm>
#include <utility>

#include "replay/engine/alone/isolated_call.h"
#include "replay/engine/symmetry/call_paths.h"
#include "replay/nccl/fast_path.h"

namespace chakra {
namespace {

constexpr uint64_t kMostSteps = uint64_t{1} << 26;

class IsolatedSteps {
 public:
  IsolatedSteps(const MachineView& machine, const CollectiveCosts& costs, const PlannedCall& call,
                uint64_t bytes, const std::vector<int>& members)
      : machine_(machine), costs_(costs), call_(call), plan_(*call.plan), chunk_(EqualChunk(call, bytes)) {
    for (int node = 0; node < plan_.nodes(); ++node)
      endpoints_.push_back(EndpointOf(machine, plan_, members, node));
  }

  // Returns false if two messages of a connection overtake each other, or if streams wait forever.
  bool Run();
  // When each member ends. After Run().
  const std::vector<Time>& ends() const { return ends_; }

 private:
  struct StreamClock {
    uint32_t node = 0;
    uint32_t begin = 0, end = 0, next = 0;  // steps of the node's program
    int part = 0;
    bool over = false;
    Time at;
    size_t done = 0;  // index into done_ of the end of this stream's first step
    std::vector<std::pair<uint32_t, uint32_t>>
        awaited_by;  // a number of steps, and the stream that waits for their end
  };
  struct Way {
    std::vector<Time> arrivals;
    size_t taken = 0;
    Time last;                      // the last arrival
    uint32_t waiter = 0;            // 1 + the stream that waits for a message; 0: none
    uint64_t bytes = ~uint64_t{0};  // for which `sent` and `there` are computed
    Time sent, there;
  };

  bool IsMember(const StreamClock& run) const { return run.node < static_cast<uint32_t>(plan_.members); }
  uint64_t Bytes(const Step& step) const { return chunk_ * static_cast<uint64_t>(step.count); }
  void Open();
  void Advance(uint32_t stream);
  // Executes one step; returns false if it must wait.
  bool Do(const Step& step, uint32_t stream);
  void Send(const Step& step, StreamClock* run);
  void Price(Way* way, int src, int dst, uint64_t bytes) const;
  bool Receive(const Step& step, uint32_t stream);
  bool Await(const Step& step, uint32_t stream);
  void WakeAwaiting(StreamClock* run);

  const MachineView& machine_;
  const CollectiveCosts& costs_;
  const PlannedCall& call_;
  const Plan& plan_;
  uint64_t chunk_;
  std::vector<int> endpoints_;  // by node
  std::vector<StreamClock> runs_;
  std::vector<Way> ways_;
  std::vector<Time> done_;  // end times of steps, by stream and step; filled only if the plan has local steps
  std::vector<uint32_t> ready_;
  std::vector<Time> ends_;
  bool overtaken_ = false;
};

void IsolatedSteps::Open() {
  runs_.resize(plan_.stream_base.back());
  ways_.resize(plan_.connection_base.back());
  ends_.assign(static_cast<size_t>(plan_.members), Time::Zero());
  size_t steps = 0;
  for (int node = 0; node < plan_.nodes(); ++node) {
    const Program& program = plan_.program(node);
    const Time begin = node < plan_.members ? call_.costs.begin : Time::Zero();
    for (size_t s = 0; s < program.streams.size(); ++s) {
      StreamClock& run = runs_[plan_.stream_base[static_cast<size_t>(node)] + s];
      run.node = static_cast<uint32_t>(node);
      run.begin = run.next = program.streams[s].begin;
      run.end = program.streams[s].end;
      run.at = begin;
      run.done = steps;
      steps += run.end - run.begin;
    }
  }
  if (plan_.has_local_steps) done_.resize(steps);
  for (size_t s = runs_.size(); s-- > 0;) ready_.push_back(static_cast<uint32_t>(s));
}

bool IsolatedSteps::Run() {
  Open();
  while (!ready_.empty() && !overtaken_) {
    const uint32_t stream = ready_.back();
    ready_.pop_back();
    Advance(stream);
  }
  return !overtaken_ &&
         std::all_of(runs_.begin(), runs_.end(), [](const StreamClock& run) { return run.over; });
}

void IsolatedSteps::Advance(uint32_t stream) {
  StreamClock& run = runs_[stream];
  const Program& program = plan_.program(static_cast<int>(run.node));
  while (true) {
    while (run.next < run.end) {
      if (!Do(program.steps[run.next], stream)) return;
      ++run.next;
      if (!plan_.has_local_steps) continue;
      done_[run.done + run.next - run.begin - 1] = run.at;
      if (!run.awaited_by.empty()) WakeAwaiting(&run);
    }
    if (IsMember(run)) run.at += costs_.step_overhead + call_.costs.part_end;
    if (++run.part == call_.costs.Rounds()) break;
    run.next = run.begin;
  }
  run.over = true;
  if (!run.awaited_by.empty()) WakeAwaiting(&run);
  if (IsMember(run)) ends_[run.node] = std::max(ends_[run.node], run.at);
}

bool IsolatedSteps::Do(const Step& step, uint32_t stream) {
  if (IsReceive(step.op)) return Receive(step, stream);
  if (step.op == StepOp::kAwait) return Await(step, stream);
  StreamClock& run = runs_[stream];
  if (IsSend(step.op)) {
    Send(step, &run);
  } else if (IsMember(run) && costs_.reduce_bandwidth.bytes_per_second() > 0) {
    const uint64_t touched = step.op == StepOp::kCopy ? 2 : 3;  // times each byte is read or written
    run.at += TransferTime(touched * Bytes(step), costs_.reduce_bandwidth);
  }
  return true;
}

void IsolatedSteps::Price(Way* way, int src, int dst, uint64_t bytes) const {
  const FlowCost cost = PairCost(machine_, call_.costs, src, dst, bytes);
  way->bytes = bytes;
  way->sent = cost.sent;
  way->there = cost.received();
}

void IsolatedSteps::Send(const Step& step, StreamClock* run) {
  const Step* before = run->next > run->begin ? &step - 1 : nullptr;
  if (IsMember(*run) && !SharesStep(before)) run->at += costs_.step_overhead;
  const auto to = static_cast<uint32_t>(step.peer);
  Way& way = ways_[plan_.connection_base[to] + step.connection];
  if (const uint64_t bytes = Bytes(step); way.bytes != bytes)
    Price(&way, endpoints_[run->node], endpoints_[to], bytes);
  const Time arrival = run->at + way.there;
  overtaken_ = overtaken_ || arrival < way.last;
  way.last = arrival;
  way.arrivals.push_back(arrival);
  if (step.op == StepOp::kSendWait) run->at += way.sent;
  if (way.waiter != 0) ready_.push_back(std::exchange(way.waiter, 0) - 1);
}

bool IsolatedSteps::Receive(const Step& step, uint32_t stream) {
  StreamClock& run = runs_[stream];
  Way& way = ways_[plan_.connection_base[run.node] + step.connection];
  if (way.taken == way.arrivals.size()) {
    way.arrivals.clear();
    way.taken = 0;
    way.waiter = stream + 1;
    return false;
  }
  run.at = std::max(run.at, way.arrivals[way.taken++]);
  if (IsMember(run)) run.at += ReduceTime(costs_, step.op, Bytes(step));
  return true;
}

bool IsolatedSteps::Await(const Step& step, uint32_t stream) {
  StreamClock& run = runs_[stream];
  StreamClock& other = runs_[plan_.stream_base[run.node] + static_cast<uint32_t>(step.peer)];
  const auto goal = static_cast<uint32_t>(step.chunk);
  const bool ends = goal > other.end - other.begin;
  if (ends ? !other.over : other.next - other.begin < goal) {
    other.awaited_by.emplace_back(goal, stream);
    return false;
  }
  if (ends) {
    run.at = std::max(run.at, other.at);
    return true;
  }
  if (goal > 0) run.at = std::max(run.at, done_[other.done + goal - 1]);
  return true;
}

void IsolatedSteps::WakeAwaiting(StreamClock* run) {
  std::erase_if(run->awaited_by, [&](const std::pair<uint32_t, uint32_t>& waits) {
    if (!run->over && run->next - run->begin < waits.first) return false;
    ready_.push_back(waits.second);
    return true;
  });
}

// Whether the path between two end points is the same for all messages.
bool HasOnePathForAPair(const Topology& topology) {
  const std::vector<TopologyDimension>& dimensions = topology.dimensions();
  return std::none_of(dimensions.begin(), dimensions.end(),
                      [](const TopologyDimension& d) { return d.kind == TopologyDimension::Kind::kNetwork; });
}

}  // namespace

std::vector<Time> TimesOfSteps(const MachineView& machine, const CollectiveCosts& costs,
                               const PlannedCall& call, uint64_t bytes, const std::vector<int>& members) {
  if (!machine.contention_free() || call.plan == nullptr || !HasOnePathForAPair(machine.topology()))
    return {};
  if (call.plan->rotational) return {};  // FastPath handles those
  if (call.plan->has_local_steps && call.costs.Rounds() > 1) return {};
  if (EqualChunk(call, bytes) == kUnevenChunks) return {};
  uint64_t steps = 0;
  for (int node = 0; node < call.plan->nodes(); ++node) steps += call.plan->program(node).steps.size();
  if (steps > kMostSteps) return {};
  IsolatedSteps run(machine, costs, call, bytes, members);
  if (!run.Run()) return {};
  return run.ends();
}

std::optional<StepTimes> TimeOfSteps(const MachineView& machine, const CollectiveCosts& costs,
                                     const PlannedCall& call, uint64_t bytes, int root,
                                     const std::vector<int>& members) {
  const std::vector<Time> ends = TimesOfSteps(machine, costs, call, bytes, members);
  if (ends.empty()) return std::nullopt;
  return StepTimes{*std::max_element(ends.begin(), ends.end()), ends[static_cast<size_t>(root)]};
}

}  // namespace chakra
