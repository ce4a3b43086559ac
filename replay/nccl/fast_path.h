// Collectives in closed form, for fabrics on which flows never delay each other.
//
// On such a fabric the end of every step is a maximum of sums, so a plan in
// which all members do the same can be evaluated step by step without events:
// for one member if all began together and all see the same costs, else for
// all members side by side. Equal to the flow-by-flow replay to the picosecond.
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

// What a way through a collective spends its time on.
struct PathParts {
  struct Links {
    Time latency, transfer;
  };
  Time software;                  // of the library: steps, parts, its latency of messages
  Time reduce;                    // copies and reductions
  std::map<size_t, Links> links;  // by kind of link: of Topology::link_classes()

  void AddLinks(const std::vector<LinkCost>& costs, int64_t times) {
    for (const LinkCost& c : costs) {
      links[c.link_class].latency += c.latency * times;
      links[c.link_class].transfer += c.transfer * times;
    }
  }
};

// Where its bytes take longest; 0 where there are no links.
size_t NarrowestOf(const std::vector<LinkCost>& costs);

class FastPath {
 public:
  FastPath(MachineView* machine, const CollectiveCosts& costs) : machine_(machine), costs_(costs) {}

  // True if Evaluate() may answer `call` on `bytes`: a rotational,
  // synchronizing plan of one stream in which all chunks are equal, on a
  // contention-free fabric.
  bool Applies(const PlannedCall& call, uint64_t bytes) const;

  // When each member ends, given when each began. `group` names `members`
  // (ranks) in later calls. Precondition: Applies(call, bytes).
  // `origin`, where not null: by member, the one whose beginning decided when it ends.
  void Evaluate(const PlannedCall& call, uint32_t group, const std::vector<int>& members, uint64_t bytes,
                const std::vector<Time>& begin, std::vector<Time>* end,
                std::vector<uint32_t>* origin = nullptr);

  // What the time from the beginning of `origin` to the end of `member`, which it decides, goes to.
  // Precondition: such an Evaluate() of the same call, group and bytes.
  PathParts Explain(const PlannedCall& call, uint32_t group, const std::vector<int>& members, uint64_t bytes,
                    uint32_t origin, uint32_t member);

  // Tells the fabric of the bytes that Evaluate() moved.
  void Account();

 private:
  struct Entry {
    const Plan* plan;
    const CallCosts* costs;
    const std::vector<int>* members;
    uint64_t message = 0;        // bytes of one chunk of one part
    uint64_t times = 0;          // calls answered
    bool ring = false;           // one connection, a send and a receive in turn: see Ring()
    bool uniform = false;        // every member sees the same costs
    Time together;               // duration when all begin together; valid if uniform
    int together_origin = -1;    // and whose beginning member 0 then owes its end to; -1: not asked yet
    std::vector<FlowCost> cost;  // [connection] if uniform, else [connection * members + sender]; with delays
    std::vector<int> offset;     // [connection] of the receiver from the sender
    std::vector<uint64_t> bytes;  // [connection] of one message
    std::vector<uint64_t> sends;  // [connection] messages a part
  };
  Entry& EntryFor(const PlannedCall& call, uint32_t group, const std::vector<int>& members, uint64_t bytes);
  Time Together(const Entry& entry) const;
  void Skewed(const Entry& entry, const std::vector<Time>& begin, std::vector<Time>* end,
              std::vector<uint32_t>* origin);
  void Ring(const Entry& entry, const std::vector<Time>& begin, std::vector<Time>* end,
            std::vector<uint32_t>* origin) const;
  void TogetherOrigins(Entry* entry, std::vector<uint32_t>* origin);
  // Members in the order of the ring.
  static std::vector<int> RingOrder(const Entry& entry);
  PathParts ExplainRing(const Entry& entry, uint32_t origin, uint32_t member) const;
  PathParts ExplainSteps(const Entry& entry, uint32_t origin, uint32_t member) const;
  // Adds a message of connection `c` that `sender` sends, `times` times.
  void AddMessage(const Entry& entry, uint32_t c, int sender, int64_t times, PathParts* parts) const;

  MachineView* machine_;
  CollectiveCosts costs_;
  absl::flat_hash_map<std::tuple<const PlannedCall*, uint32_t, uint64_t>, std::unique_ptr<Entry>> entries_;
  std::vector<Entry*> in_order_;
};

// Of one message that is alone, with what the library adds.
FlowCost PairCost(const MachineView& machine, const CallCosts& costs, int src, int dst, uint64_t bytes);

// Bytes of each chunk of a part where all are equal, else kUnevenChunks. A
// library pads chunks to equal size; without one they are cut to the byte.
inline constexpr uint64_t kUnevenChunks = ~uint64_t{0};
uint64_t EqualChunk(const PlannedCall& call, uint64_t bytes);

// Time of adding a received message of `bytes` to what is there: two reads and
// a write over the memory bus.
inline Time ReduceTime(const CollectiveCosts& costs, uint64_t bytes) {
  if (costs.reduce_bandwidth.bytes_per_second() == 0) return Time::Zero();
  return TransferTime(3 * bytes, costs.reduce_bandwidth);
}

}  // namespace chakra
