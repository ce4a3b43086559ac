// Runs matched collective calls on a fabric: step by step as flows, or in closed form where the closed form
// is exact.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "backends/machine.h"
#include "replay/collectives/registry.h"
#include "replay/engine/causes/cause.h"
#include "replay/engine/causes/collective_causes.h"
#include "replay/engine/communication.h"
#include "replay/engine/flow_log.h"
#include "replay/engine/match/match.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/simulated/collective_counts.h"
#include "replay/engine/symmetry/apart_calls.h"
#include "replay/engine/symmetry/call_paths.h"
#include "replay/engine/symmetry/card_lanes.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/fast_path.h"
#include "replay/nccl/planned_call.h"
#include "replay/nccl/planner.h"
#include "trace/base/prefetch.h"

namespace chakra {

// The runner never calls back. It collects what ended in ended(), and the times at which it must be woken in
// wakes(); the caller drains both after each call.
class CollectiveRunner {
 public:
  using Ended = Communication::Ended;
  using Wake = Communication::Wake;

  // Of no bytes the library launches nothing: such a call takes no time.
  static bool IsEmpty(const CollectiveCall& call) {
    return call.bytes == 0 && call.type != CollectiveType::kBarrier;
  }
  // `planner` must outlive the runner and plan on `machine` with `costs`. `log`, where given, is of
  // `machine`; it is told what flows belong to.
  CollectiveRunner(Machine* machine, const CollectiveCosts& costs, const Matching& matching, bool fast_paths,
                   CollectivePlanner* planner, FlowLog* log = nullptr)
      : machine_(machine),
        costs_(costs),
        matching_(matching),
        fast_paths_(fast_paths),
        log_(log),
        planner_(planner),
        fast_(machine, costs),
        lanes_(*machine, matching),
        learned_(matching, *machine),
        apart_(machine, costs_, matching, planner),
        counts_(matching) {}

  // Plans every call. Errors: an algorithm that cannot plan its collective.
  absl::Status Prepare();

  // Lets calls be simulated apart whose flows meet no others (apart_calls.h). After Prepare(), before the
  // first arrival. `serial`: as SerialGroups() has it. Not where causes are kept, or flows logged.
  void LetApart(const std::vector<bool>& serial, ApartCalls::Simulate simulate) {
    apart_.Find(serial, plan_of_, simulate);
  }

  // The first rail stands for all (call_images.h). Before the first arrival; flows and links are then not
  // those of the call.
  void GoByOneRail() { one_rail_ = true; }
  // Leaves streams out (call_images.h), by number in the plan. Before the first arrival, for a matching of
  // one call.
  void LeaveOut(std::vector<bool> streams) { left_out_ = std::move(streams); }

  // Error: there is no memory for a call that is simulated message by message. After Prepare() and
  // LetApart().
  absl::Status CheckMemory() const;

  // Keeps causes from now on: those given to Arrive() and those that follow. Call it before the first
  // arrival.
  void KeepCauses() { keep_causes_ = true; }

  // Member `member` arrives at `call` at `now`, with node `row`, for `cause`.
  void Arrive(uint32_t call, uint32_t member, uint32_t row, Time now, CauseRef cause = {});
  // A flow ended for whose tag OwnsTag() is true.
  void OnFlow(const FlowEnd& end, Time now);
  // Fetches the stream that OnFlow() of this end will wake; then its step.
  void Fetch(const FlowEnd& end) const {
    if (const StreamRun* run = WokenBy(end)) PrefetchToWrite(run);
  }
  void FetchStep(const FlowEnd& end) const {
    const StreamRun* run = WokenBy(end);
    if (run == nullptr) return;
    if (run->period == 0) {
      PrefetchToWrite(run->steps + run->next);
    } else {
      PrefetchToWrite(run->loop);
      PrefetchToWrite(run->loop + run->period - 1);
    }
  }
  void OnWake(uint32_t active, uint32_t stream, Time now) {
    if (stream == kWholeCall) {
      EndTogether(active, now);
    } else if (stream == kHeld) {
      Release(active, now);
    } else {
      Run(active, stream, now);
    }
  }

  // Flows that are not the runner's must have this bit of their tag set.
  static constexpr uint64_t kForeignTag = uint64_t{1} << 63;
  static bool OwnsTag(uint64_t tag) { return (tag & kForeignTag) == 0; }

  std::vector<Ended>& ended() { return ended_; }
  std::vector<Wake>& wakes() { return wakes_; }

  // How call `call` is run; null: a group of one. After Prepare().
  const PlannedCall* planned(uint32_t call) const { return plan_of_[call]; }

  // Explains a call that was answered in closed form: see FastPath::Explain().
  PathParts ExplainClosed(uint32_t call, uint32_t origin, uint32_t member) {
    const CollectiveCall& c = matching_.calls[call];
    if (const std::vector<PathParts>* parts = learned_.Parts(plan_of_[call])) return (*parts)[member];
    return fast_.Explain(*plan_of_[call], c.group, matching_.groups[c.group].members, c.bytes, origin,
                         member);
  }

  // True from the arrival of `member` on.
  bool Arrived(uint32_t call, uint32_t member) const;

  // Adds the calls that ended to `metrics`, and tells the fabric the bytes of closed forms.
  void Report(Metrics* metrics);
  uint64_t flows() const { return counts_.flows(); }

 private:
  struct CallState {
    uint32_t active = kNoRow;
    uint32_t arrived = 0;
    uint32_t left = 0;  // members that have not ended
    bool over = false;
  };
  // One line of the cache: streams run in no order.
  struct alignas(64) StreamRun {
    uint32_t next = 0;  // step
    uint32_t end = 0;
    uint32_t begin = 0;
    uint32_t member = 0;
    int part = 0;
    bool paid = false;  // the overhead of the next step is paid
    bool busy = false;  // the step before `next` is under way
    // Streams of the same node that await this one, as a list, what is done first in front: 1 + the stream;
    // 0: the end.
    uint32_t first_awaiting = 0;
    uint32_t next_awaiting = 0;      // after this stream, in the list of the stream that it awaits
    uint32_t connections = 0;        // the first incoming one of the node
    uint32_t period = 0;             // of its loop; 0: it has none
    const Step* steps = nullptr;     // of the node's program, or
    const LoopStep* loop = nullptr;  // of the loop
    // Step `next`.
    Step Next() const {
      if (period == 0) return steps[next];
      const uint32_t i = next - begin;
      Step step = loop[i % period].step;
      step.chunk += static_cast<int32_t>(i / period) * loop[i % period].move;
      return step;
    }
  };
  struct Active {
    uint32_t call = 0;
    const PlannedCall* planned = nullptr;
    const Plan* plan = nullptr;
    bool fast = false;
    bool learns = false;       // the members arrived together; the call runs step by step to learn its causes
    bool sends_first = false;  // an IsExchange() in which nothing comes between the sends of a member
    bool held = false;   // the instant of the first arrival is not over: members that arrive in it begin
                         // together
    uint64_t chunk = 0;  // bytes of each chunk if all are equal, else kUneven
    Time first, last_arrival, last_end;
    std::vector<uint32_t> row;  // by member; kNoRow: not arrived
    std::vector<Time> begin;    // by member
    std::vector<StreamRun> streams;
    std::vector<uint32_t> streams_left;  // by node
    uint32_t switches_left = 0;          // switches whose programs have not ended
    std::vector<uint32_t> inbox;         // by connection: messages that arrived before their receive
    std::vector<uint32_t> waiter;        // by connection: 1 + the stream that waits for a message; 0: none
    std::vector<uint32_t> sender;        // by connection: 1 + the stream that waits until its message has
                                         // left; 0: none
    SpreadMessages spread;
    CallCauses why;  // where causes are kept
  };
  // Wake::stream: all members of the call end.
  static constexpr uint32_t kWholeCall = 0xffffffff;
  // Wake::stream: the instant of the first arrivals is over.
  static constexpr uint32_t kHeld = 0xfffffffe;
  static constexpr uint64_t kUneven = ~uint64_t{0};
  class MemberSends;  // the sends of a member, as a list of flows
  // A flow's tag holds the call's slot, the lane and the connection.
  static constexpr int kConnectionBits = 33;
  static constexpr int kLaneBits = 8;
  static uint32_t SlotOf(uint64_t tag) { return static_cast<uint32_t>(tag >> (kConnectionBits + kLaneBits)); }
  static uint64_t ConnectionOf(uint64_t tag) { return tag & ((uint64_t{1} << kConnectionBits) - 1); }

  // The stream that waits for the end; null: none.
  const StreamRun* WokenBy(const FlowEnd& end) const {
    const Active& a = active_[SlotOf(end.tag)];
    const std::vector<uint32_t>& waits = end.kind == FlowEnd::kSent ? a.sender : a.waiter;
    const uint32_t stream = waits.empty() ? 0 : waits[ConnectionOf(end.tag)];
    return stream == 0 ? nullptr : &a.streams[stream - 1];
  }
  uint32_t Open(uint32_t call, Time now, const CauseRef& cause);
  // Makes room for the steps of a call.
  void OpenSteps(Active& a);
  // Starts the streams of a member or a switch.
  void StartNode(uint32_t active, uint32_t node, Time now);
  void Run(uint32_t active, uint32_t stream, Time now);
  bool Send(uint32_t active, uint32_t stream, const Step& step, Time now);
  // Starts `flow`, a message between two members, over `cards` cards of their nodes.
  void SendSpread(Active& a, const Flow& flow, const StreamRun& run, uint32_t to, int cards, Time now);
  // The message of a step of `run`, which sends to node `to`.
  Flow FlowOf(const Active& a, uint32_t active, const StreamRun& run, const Step& step, uint32_t to) const;
  // On which a step of `run` sends to node `to`: that of the stream's own copy of the plan.
  uint64_t ConnectionOf(const Active& a, const StreamRun& run, const Step& step, uint32_t to) const {
    return uint64_t{run.connections} - a.plan->connection_base[run.member] + a.plan->connection_base[to] +
           step.connection;
  }
  uint32_t ReceiverOf(const Plan& plan, const StreamRun& run, const Step& step) const;
  // Starts all sends of a member at once, where a.sends_first.
  void SendAll(uint32_t active, uint32_t stream, Time now);
  // Starts a flow of the step before `run.next`.
  void Start(const Active& a, const StreamRun& run, const Flow& flow, Time now);
  // Runs a copy, reduction or await. True if the stream must wait.
  bool Local(uint32_t active, uint32_t stream, const Step& step, Time now);
  // Whether `other` has done what `step` of `run` awaits; both are streams of one node.
  bool HasDone(const StreamRun& run, const StreamRun& other, const Step& step) const;
  // Puts `stream` into the list of those that await `other`.
  static void Await(Active& a, uint32_t stream, StreamRun* other);
  // Wakes the streams that awaited what `stream` has done by now, in order of their numbers.
  void WakeAwaiting(uint32_t active, uint32_t stream, Time now);
  // Whether `run` is a stream of a member. The other nodes are switches, which work without cost.
  static bool IsMember(const Active& a, const StreamRun& run) {
    return run.member < static_cast<uint32_t>(a.plan->members);
  }
  // Where a member or switch lies in the machine.
  int Endpoint(const Active& a, uint32_t node) const;
  // Checks that every switch of `plan` exists and reaches every node that it exchanges messages with.
  absl::Status CheckSwitches(const Plan& plan, const GroupInfo& group) const;
  // How many groups do what the group of `call` does.
  uint64_t TimesOf(uint32_t call) const { return matching_.groups[matching_.calls[call].group].times(); }
  uint64_t StepBytes(const Active& a, const Step& step, uint32_t member, int part) const;
  // `cause`: the cause of the stream that ended last.
  void EndNode(Active& a, uint32_t node, Time at, const CauseRef& cause);
  void EndMember(Active& a, uint32_t member, Time at, CauseRef cause);
  // Ends the members of a call in closed form at the times ends_, each because of the arrival of its origin
  // in origins_.
  void EndMembersFor(uint32_t active);
  // Wakes a stream at `at`; until then it spends its time on `kind`.
  void WakeAfter(Active& a, uint32_t active, uint32_t stream, Time at, Cause::Kind kind);
  // Whose time a member or a switch of a call spends.
  Spender Whose(const Active& a, uint32_t node) const;
  void Close(Active& a);
  void RunFast(uint32_t active);
  // If all members arrived in the same instant, answers the call in closed form; otherwise starts the members
  // that have arrived.
  void Release(uint32_t active, Time now);
  // Answers a call all of whose members begin now, if it is one that is simulated apart.
  bool EndApart(uint32_t active, Time now);
  void EndTogether(uint32_t active, Time at);

  Machine* machine_;
  CollectiveCosts costs_;
  const Matching& matching_;
  bool fast_paths_;
  bool keep_causes_ = false;
  bool one_rail_ = false;
  std::vector<bool> left_out_;  // empty: none
  FlowLog* log_;
  uint64_t first_call_ = 0;  // the log's number of the first call
  CollectivePlanner* planner_;
  FastPath fast_;
  GroupLanes lanes_;
  std::vector<const PlannedCall*> plan_of_;  // by call; null: a group of one
  std::vector<CallState> calls_;
  std::vector<Active> active_;
  std::vector<uint32_t> free_;
  std::vector<Ended> ended_;
  std::vector<Wake> wakes_;
  LearnedCauses learned_;  // where causes are kept
  ApartCalls apart_;
  std::vector<Time> ends_;  // scratch, like origins_
  std::vector<uint32_t> origins_;
  CollectiveCounts counts_;
};

}  // namespace chakra
