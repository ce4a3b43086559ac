// Runs matched collective calls on a fabric: step by step as flows, or in closed form if the closed form is
// exact.
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

// The runner never calls back. It collects the ends of members in ended(), and the times at which it must be
// woken in wakes(); the caller empties both after each call.
class CollectiveRunner {
 public:
  using Ended = Communication::Ended;
  using Wake = Communication::Wake;

  // Whether the call takes no time: the library launches nothing for a call of no bytes, except a barrier.
  static bool IsEmpty(const CollectiveCall& call) {
    return call.bytes == 0 && call.type != CollectiveType::kBarrier;
  }
  // `planner` must outlive the runner and plan on `machine` with `costs`. `log`, if not null, is the log of
  // `machine`; the runner sets the origins of flows in it.
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

  // Allows isolated calls to be simulated by themselves (apart_calls.h). Must be called after Prepare() and
  // before the first arrival. `serial`: as from SerialGroups(). Not to be called if causes are kept or flows
  // are logged.
  void LetApart(const std::vector<bool>& serial, ApartCalls::Simulate simulate) {
    apart_.Find(serial, plan_of_, simulate);
  }

  // Simulates only the first rail, in place of all (call_images.h). Must be called before the first arrival.
  // The flows and the loads of links are then not those of the whole call.
  void GoByOneRail() { one_rail_ = true; }
  // Leaves streams out (call_images.h), given by number in the plan. Must be called before the first arrival,
  // for a matching of one call.
  void LeaveOut(std::vector<bool> streams) { left_out_ = std::move(streams); }

  // Returns an error if there is not enough memory for a call that is simulated message by message. Must be
  // called after Prepare() and LetApart().
  absl::Status CheckMemory() const;

  // Keeps causes from now on: those passed to Arrive(), and those that follow from them. Must be called
  // before the first arrival.
  void KeepCauses() { keep_causes_ = true; }

  // Member `member` arrives at `call` at `now`, with node `row`, for `cause`.
  void Arrive(uint32_t call, uint32_t member, uint32_t row, Time now, CauseRef cause = {});
  // A flow ended. Precondition: OwnsTag() is true for its tag.
  void OnFlow(const FlowEnd& end, Time now);
  // Fetch() prefetches the stream that OnFlow() of this end will wake; FetchStep() prefetches the stream's
  // next step.
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

  // This bit must be set in the tags of flows that are not the runner's.
  static constexpr uint64_t kForeignTag = uint64_t{1} << 63;
  static bool OwnsTag(uint64_t tag) { return (tag & kForeignTag) == 0; }

  std::vector<Ended>& ended() { return ended_; }
  std::vector<Wake>& wakes() { return wakes_; }

  // The plan of call `call`; null: a group of one, a kept call, or a call that takes no time. To be called
  // after Prepare().
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

  // Adds the calls that ended to `metrics`, and reports the bytes of calls in closed form to the fabric.
  void Report(Metrics* metrics);
  uint64_t flows() const { return counts_.flows(); }

 private:
  struct CallState {
    uint32_t active = kNoRow;
    uint32_t arrived = 0;
    uint32_t left = 0;  // members that have not ended
    bool over = false;
  };
  // Each has one cache line of its own, because streams run in no particular order.
  struct alignas(64) StreamRun {
    uint32_t next = 0;  // step
    uint32_t end = 0;
    uint32_t begin = 0;
    uint32_t member = 0;
    int part = 0;
    bool paid = false;  // the overhead of the next step is paid
    bool busy = false;  // the step before `next` is under way
    // The list of streams of the same node that await this stream, in the order in which the awaited steps
    // will be done. Each entry is 1 + the stream; 0: end of the list.
    uint32_t first_awaiting = 0;
    uint32_t next_awaiting = 0;      // the stream after this one, in the list of the stream that this one
                                     // awaits
    uint32_t connections = 0;        // the node's first incoming connection
    uint32_t period = 0;             // of its loop; 0: the stream has no loop
    const Step* steps = nullptr;     // of the node's program
    const LoopStep* loop = nullptr;  // of the loop; used if period > 0
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
    bool learns = false;       // all members arrived together; the call runs step by step so that its causes
                               // are learned
    bool sends_first = false;  // the plan is an IsExchange(), and each member starts all its sends at once
    bool held = false;   // the instant of the first arrival is not over; all members that arrive in this
                         // instant begin together
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
    CallCauses why;  // if causes are kept
  };
  // Wake::stream: all members of the call end.
  static constexpr uint32_t kWholeCall = 0xffffffff;
  // Wake::stream: the instant of the first arrival is over.
  static constexpr uint32_t kHeld = 0xfffffffe;
  static constexpr uint64_t kUneven = ~uint64_t{0};
  class MemberSends;  // the sends of a member, as a list of flows
  // The tag of a flow consists of the call's slot, the lane and the connection.
  static constexpr int kConnectionBits = 33;
  static constexpr int kLaneBits = 8;
  static uint32_t SlotOf(uint64_t tag) { return static_cast<uint32_t>(tag >> (kConnectionBits + kLaneBits)); }
  static uint64_t ConnectionOf(uint64_t tag) { return tag & ((uint64_t{1} << kConnectionBits) - 1); }

  // The stream that waits for `end`; null: none.
  const StreamRun* WokenBy(const FlowEnd& end) const {
    const Active& a = active_[SlotOf(end.tag)];
    const std::vector<uint32_t>& waits = end.kind == FlowEnd::kSent ? a.sender : a.waiter;
    const uint32_t stream = waits.empty() ? 0 : waits[ConnectionOf(end.tag)];
    return stream == 0 ? nullptr : &a.streams[stream - 1];
  }
  uint32_t Open(uint32_t call, Time now, const CauseRef& cause);
  // Allocates the streams and connections of a call that runs step by step.
  void OpenSteps(Active& a);
  // Starts the streams of a member or a switch.
  void StartNode(uint32_t active, uint32_t node, Time now);
  void Run(uint32_t active, uint32_t stream, Time now);
  bool Send(uint32_t active, uint32_t stream, const Step& step, Time now);
  // Starts `flow`, a message between two members, spread over `cards` NICs of their nodes.
  void SendSpread(Active& a, const Flow& flow, const StreamRun& run, uint32_t to, int cards, Time now);
  // The message of step `step` of `run`, which sends to node `to`.
  Flow FlowOf(const Active& a, uint32_t active, const StreamRun& run, const Step& step, uint32_t to) const;
  // The connection on which a step of `run` sends to node `to`, in the stream's own copy of the plan.
  uint64_t ConnectionOf(const Active& a, const StreamRun& run, const Step& step, uint32_t to) const {
    return uint64_t{run.connections} - a.plan->connection_base[run.member] + a.plan->connection_base[to] +
           step.connection;
  }
  uint32_t ReceiverOf(const Plan& plan, const StreamRun& run, const Step& step) const;
  // Starts all sends of a member at once. Precondition: a.sends_first.
  void SendAll(uint32_t active, uint32_t stream, Time now);
  // Starts a flow of the step just before `run.next`.
  void Start(const Active& a, const StreamRun& run, const Flow& flow, Time now);
  // Runs a copy, reduction or await. Returns true if the stream must wait.
  bool Local(uint32_t active, uint32_t stream, const Step& step, Time now);
  // Whether `other` has done what `step` of `run` awaits; both are streams of one node.
  bool HasDone(const StreamRun& run, const StreamRun& other, const Step& step) const;
  // Adds `stream` to the list of streams that await `other`.
  static void Await(Active& a, uint32_t stream, StreamRun* other);
  // Wakes the streams whose awaited step of `stream` is done by now, in the order of their numbers.
  void WakeAwaiting(uint32_t active, uint32_t stream, Time now);
  // Whether `run` is a stream of a member. The other nodes are switches, which work without cost.
  static bool IsMember(const Active& a, const StreamRun& run) {
    return run.member < static_cast<uint32_t>(a.plan->members);
  }
  // The end point of a member or switch in the machine.
  int Endpoint(const Active& a, uint32_t node) const;
  // Checks that every switch of `plan` exists and reaches every node with which it exchanges messages.
  absl::Status CheckSwitches(const Plan& plan, const GroupInfo& group) const;
  // The number of symmetric groups that the group of `call` stands for, itself included.
  uint64_t TimesOf(uint32_t call) const { return matching_.groups[matching_.calls[call].group].times(); }
  uint64_t StepBytes(const Active& a, const Step& step, uint32_t member, int part) const;
  // `cause`: the cause of the stream that ended last.
  void EndNode(Active& a, uint32_t node, Time at, const CauseRef& cause);
  void EndMember(Active& a, uint32_t member, Time at, CauseRef cause);
  // Ends the members of a call in closed form at the times in ends_, each caused by the arrival of its origin
  // in origins_.
  void EndMembersFor(uint32_t active);
  // Wakes a stream at `at`; until then the stream spends its time on `kind`.
  void WakeAfter(Active& a, uint32_t active, uint32_t stream, Time at, Cause::Kind kind);
  // The member or switch of a call whose time is spent.
  Spender Whose(const Active& a, uint32_t node) const;
  void Close(Active& a);
  void RunFast(uint32_t active);
  // If all members arrived in the same instant, answers the call in closed form; otherwise starts the members
  // that have arrived.
  void Release(uint32_t active, Time now);
  // Answers a call whose members all begin now, if it is isolated and its outcome is known. Returns whether
  // it did.
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
  uint64_t first_call_ = 0;  // the number of the first call in the log
  CollectivePlanner* planner_;
  FastPath fast_;
  GroupLanes lanes_;
  std::vector<const PlannedCall*> plan_of_;  // by call; null: see planned()
  std::vector<CallState> calls_;
  std::vector<Active> active_;
  std::vector<uint32_t> free_;
  std::vector<Ended> ended_;
  std::vector<Wake> wakes_;
  LearnedCauses learned_;  // if causes are kept
  ApartCalls apart_;
  std::vector<Time> ends_;  // scratch, like origins_
  std::vector<uint32_t> origins_;
  CollectiveCounts counts_;
};

}  // namespace chakra
