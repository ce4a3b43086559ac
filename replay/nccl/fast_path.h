// Collectives in closed form, on fabrics where flows never delay each other.
//
// On these fabrics the end of every step is a maximum of sums. So a plan in which all members do the same can
// be evaluated step by step without events: for one member if all began together and see the same costs, else
// for all members in parallel. The result equals the flow-by-flow replay to the picosecond.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/machine.h"
#include "replay/collectives/plan.h"
#include "replay/nccl/collective_costs.h"
#include "replay/nccl/planned_call.h"

namespace chakra {

// How a path through a collective spends its time.
struct PathParts {
  struct Links {
    Time latency, transfer;
  };
  Time software;                  // time in the library: steps, parts, its latency for each message
  Time reduce;                    // copies and reductions
  std::map<size_t, Links> links;  // by kind of link: index into Topology::link_classes()

  void AddLinks(const std::vector<LinkCost>& costs, int64_t times) {
    for (const LinkCost& c : costs) {
      links[c.link_class].latency += c.latency * times;
      links[c.link_class].transfer += c.transfer * times;
    }
  }
};

// The class of the link on which the bytes take longest; 0 if there are no links.
size_t NarrowestOf(const std::vector<LinkCost>& costs);

// The cost of one isolated message, with the library's additions.
FlowCost PairCost(const MachineView& machine, const CallCosts& costs, int src, int dst, uint64_t bytes);

class FastPath {
 public:
  FastPath(MachineView* machine, const CollectiveCosts& costs) : machine_(machine), costs_(costs) {}

  // Whether Evaluate() can answer `call` for `bytes`: the plan must be rotational and synchronizing, with one
  // stream and equal chunks, and the fabric contention-free.
  bool Applies(const PlannedCall& call, uint64_t bytes) const;

  // Computes when each member ends from when each began. `group` identifies `members` (ranks) in later calls.
  // Account() counts the call `times` times. If `origin` is not null, it is set, by member, to the member
  // whose start decided the member's end. Precondition: Applies(call, bytes).
  void Evaluate(const PlannedCall& call, uint32_t group, const std::vector<int>& members, uint64_t bytes,
                const std::vector<Time>& begin, std::vector<Time>* end,
                std::vector<uint32_t>* origin = nullptr, uint64_t times = 1);

  // How the time from the start of `origin` to the end of `member` is spent. Precondition: Evaluate() for the
  // same call, group and bytes gave `origin` as the origin of `member`.
  PathParts Explain(const PlannedCall& call, uint32_t group, const std::vector<int>& members, uint64_t bytes,
                    uint32_t origin, uint32_t member);

  // Reports the bytes that Evaluate() moved to the fabric.
  void Account();

 private:
  struct Entry {
    const Plan* plan;
    const CallCosts* costs;
    const std::vector<int>* members;
    uint64_t message = 0;         // bytes of one chunk of one part
    uint64_t times = 0;           // number of calls answered
    bool ring = false;            // whether the plan has one connection, and sends and receives alternately:
                                  // see Ring()
    bool exchange = false;        // whether all sends come before all receives, each on its own connection
    bool uniform = false;         // whether every member sees the same costs
    size_t period = 0;            // members this far apart see the same costs: see PeriodOfCosts()
    Time together;                // duration when all begin together; valid if uniform
    int together_origin = -1;     // the member whose start then decides the end of member 0; -1: not computed
                                  // yet
    std::vector<FlowCost> cost;   // [connection] if uniform, else [kind]; with the library's latencies
    std::vector<uint8_t> kind;    // [connection * period + sender]; empty: uniform, or too many to keep
    std::vector<int> offset;      // [connection]: distance of the receiver from the sender
    std::vector<uint64_t> bytes;  // [connection]: bytes of one message
    std::vector<uint64_t> sends;  // [connection]: messages in each part
  };
  Entry& EntryFor(const PlannedCall& call, uint32_t group, const std::vector<int>& members, uint64_t bytes);
  // Sets `uniform` and, if they are kept, costs.
  void FillCosts(Entry* entry) const;
  void FillKinds(Entry* entry) const;
  // The cost of a message that `sender` sends on connection `c`.
  FlowCost CostOf(const Entry& e, size_t c, size_t sender) const {
    if (e.uniform) return e.cost[c];
    if (!e.kind.empty()) return e.cost[e.kind[c * e.period + sender % e.period]];
    return FindCost(e, c, sender);
  }
  FlowCost FindCost(const Entry& e, size_t c, size_t sender) const {
    const size_t receiver = (sender + static_cast<size_t>(e.offset[c])) % e.members->size();
    return PairCost(*machine_, *e.costs, (*e.members)[sender], (*e.members)[receiver], e.bytes[c]);
  }
  Time Together(const Entry& entry) const;
  // `begin` has all members or, without origins, only the first `period`. In the latter case `end` also has
  // only these; the other members are symmetric to them.
  void Skewed(const Entry& entry, const std::vector<Time>& begin, std::vector<Time>* end,
              std::vector<uint32_t>* origin);
  // Skewed() for an exchange, with memory only for members instead of messages. Precondition: entry.exchange.
  void Exchange(const Entry& entry, const std::vector<Time>& begin, std::vector<Time>* end,
                std::vector<uint32_t>* origin) const;
  void Ring(const Entry& entry, const std::vector<Time>& begin, std::vector<Time>* end,
            std::vector<uint32_t>* origin) const;
  void TogetherOrigins(Entry* entry, std::vector<uint32_t>* origin);
  // The overhead that a send costs before it begins.
  Time Overhead(const Program& program, size_t step) const;
  // The members in the order of the ring.
  static std::vector<int> RingOrder(const Entry& entry);
  PathParts ExplainRing(const Entry& entry, uint32_t origin, uint32_t member) const;
  PathParts ExplainSteps(const Entry& entry, uint32_t origin, uint32_t member) const;
  // Adds `times` messages that `sender` sends on connection `c`.
  void AddMessage(const Entry& entry, uint32_t c, int sender, int64_t times, PathParts* parts) const;

  MachineView* machine_;
  CollectiveCosts costs_;
  absl::flat_hash_map<std::tuple<const PlannedCall*, uint32_t, uint64_t>, std::unique_ptr<Entry>> entries_;
  std::vector<Entry*> in_order_;
};

// A divisor P of the number of members such that, for all m and k, the path from member m + P to member k + P
// (modulo the number of members) costs the same as the path from m to k. If the members fill symmetric blocks
// of the machine, block after block, P is the size of a block. If no smaller P is found: the number of
// members.
size_t PeriodOfCosts(const MachineView& machine, const std::vector<int>& members);

// The bytes of each chunk of a part if all chunks are equal, else kUnevenChunks. A library pads chunks to
// equal size; without a library, chunks are cut to the byte.
inline constexpr uint64_t kUnevenChunks = ~uint64_t{0};
uint64_t EqualChunk(const PlannedCall& call, uint64_t bytes);

// The time to add a received message of `bytes` to a buffer: two reads and a write over the memory bus.
inline Time ReduceTime(const CollectiveCosts& costs, uint64_t bytes) {
  if (costs.reduce_bandwidth.bytes_per_second() == 0) return Time::Zero();
  return TransferTime(3 * bytes, costs.reduce_bandwidth);
}

// The time that a member waits in a step `op` to add what it received; zero if the step adds nothing.
inline Time ReduceTime(const CollectiveCosts& costs, StepOp op, uint64_t bytes) {
  if (op == StepOp::kRecvReduce) return ReduceTime(costs, bytes);
  return op == StepOp::kRecvReduceHalf ? ReduceTime(costs, bytes / 2) : Time::Zero();
}

}  // namespace chakra
