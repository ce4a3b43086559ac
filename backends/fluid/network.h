// The weighted max-min fair rates of flows on links at one instant, kept up to date as flows come and go.
//
// Let the level of a flow be rate / weight. A rate vector is max-min fair if no flow's rate can grow without
// lowering the rate of a flow whose level is as small or smaller (Bertsekas and Gallager, "Data Networks",
// 1992, section 6.5.2). There is exactly one max-min fair rate vector: the one in which each flow is held by
// a link that is full and on which no flow has a higher level. Flows of a higher priority take their rates
// first.
//
// This condition is local, so the network maintains it locally. When flows are added or removed, only flows
// that lost their holder or must make room are filled again, into the capacity that the others leave. Flows
// that are then no longer held, or have a higher level than a flow that their link holds, are filled again
// too, until all flows are held. If priorities differ, all connected flows are filled again.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "backends/fluid/filling.h"
#include "trace/base/prefetch.h"

namespace chakra {

// A link of a flow's path, and the share of the flow's rate on this link (in (0, 1]; less than 1 if the flow
// is spread over several paths).
struct FluidHop {
  uint32_t link;
  double share = 1;
};

class FluidNetwork {
 public:
  // Adds a link of `capacity` >= 0 in any unit of rate; links are numbered from 0.
  uint32_t AddLink(double capacity);
  void SetCapacity(uint32_t link, double capacity);
  size_t links() const { return links_.size(); }
  double capacity(uint32_t link) const { return links_[link].capacity; }

  // Adds a flow over `hops` (at least one link, each at most once). `weight` > 0. The flow's rate is 0 until
  // Solve(). Numbers of removed flows are reused.
  uint32_t AddFlow(const std::vector<FluidHop>& hops, double weight, int priority);
  void RemoveFlow(uint32_t flow);
  // The rate of a flow at the last Solve().
  double rate(uint32_t flow) const { return flows_[flow].level * flows_[flow].weight; }
  // The number of flows on a link, and the sum of their rates.
  size_t flows_on(uint32_t link) const { return links_[link].slots.size(); }
  double used(uint32_t link) const { return links_[link].used.value(); }

  // Computes the rates. `changed` receives the flows whose rate changed, in an order that is arbitrary but
  // the same for the same calls.
  void Solve(std::vector<uint32_t>* changed);
  bool dirty() const { return !dirty_.empty(); }
  // The links that the last Solve() may have changed.
  const std::vector<uint32_t>& touched() const { return touched_; }
  // Call f(link, share) for each link of a flow, or f(flow) for each flow on a link.
  template <typename F>
  void ForEachHop(uint32_t flow, F f) const {
    const FlowRecord& record = flows_[flow];
    for (uint32_t s = record.first; s < record.first + record.count; ++s) f(slots_[s].link, slots_[s].share);
  }
  template <typename F>
  void ForEachFlow(uint32_t link, F f) const {
    for (const uint32_t slot : links_[link].slots) f(slots_[slot].flow);
  }

  // Prefetches the links of a flow.
  void Fetch(uint32_t flow) const {
    ForEachHop(flow, [&](uint32_t link, double) {
      const char* record = reinterpret_cast<const char*>(&links_[link]);
      for (size_t byte = 0; byte < sizeof(Link); byte += 64) PrefetchToWrite(record + byte);
    });
  }

  // The number of rates computed over all calls of Solve().
  uint64_t work() const { return work_; }

  // For tests and debug builds: whether no link is above its capacity, and each flow is on a link that is
  // full and on which no flow has a higher level. `tolerance` is relative. If priorities differ, only flows
  // of the same and of higher priorities count.
  bool IsMaxMin(double tolerance) const;

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  // A sum that stays exact when added numbers are subtracted again.
  class Sum {
   public:
    void Add(double x) {
      const double sum = high_ + x;
      const double part = sum - high_;
      low_ += (high_ - (sum - part)) + (x - part);
      high_ = sum;
    }
    double value() const { return high_ + low_; }

   private:
    double high_ = 0, low_ = 0;
  };
  using Few = absl::InlinedVector<uint32_t, 4>;  // most links have few flows
  // Two cache lines, because a solution reads links in random order.
  struct alignas(64) Link {
    double capacity = 0;
    Sum used;
    Sum weight;        // sum of weight * share of its flows
    double bound = 0;  // upper bound of the levels of its flows
    double level = 0;  // level of the flows that it holds
    bool dirty = false;
    bool joined = false;  // has new flows, or lost capacity
    // While solving:
    uint32_t mark = 0;
    uint32_t local = 0;  // its number in the filling, and in part_links_
    Few slots;
    Few held;  // flows
  };
  // A link while solving.
  struct PartLink {
    uint32_t link;
    uint32_t free = 0;  // number of its flows that are filled again
    Sum fixed;          // rate of its other flows
  };
  struct FlowRecord {
    double weight = 0;
    double level = 0;    // rate over weight
    uint32_t first = 0;  // first slot
    uint32_t count = 0;  // 0: no such flow
    uint32_t mark = 0;   // marked if it is filled again
    uint32_t holder = kNone;
    uint32_t place = 0;  // index in the holder's list
    int priority = 0;
    bool fresh = false;  // has no rate yet
  };
  // A flow on a link.
  struct Slot {
    double share;
    uint32_t flow;
    uint32_t link;
    uint32_t place;  // index in the link's list
  };

  struct Priority {
    int priority;
    int64_t flows;  // number of flows with this priority
  };

  void MarkDirty(uint32_t link);
  void CountPriority(int priority, int by);
  uint32_t TakeSlots(uint32_t count);
  void Hold(uint32_t flow, uint32_t link, double level);
  void Release(uint32_t flow);
  void Touch(uint32_t link);
  // Marks a flow to be filled again.
  void Free(uint32_t flow);
  bool InFilling(const Link& link) const { return link.mark == mark_ && link.local < filled_; }
  double Left(const Link& link) const;
  // For flows that `link` no longer holds: finds another holder, or frees them.
  void Loosen(uint32_t link);
  bool HeldElsewhere(uint32_t flow, uint32_t but);
  void FreeAbove(uint32_t link, double level);
  bool SetAlone(uint32_t flow);
  void Seed(std::vector<uint32_t>* changed);
  void Fill(int priority, bool all, const std::vector<double>& left);
  void FillPart();
  // Frees flows that are no longer held or must make room. False: there are none.
  bool Spread();
  void FreeAllThatHangsTogether();
  void Commit(std::vector<uint32_t>* changed);

  std::vector<Link> links_;
  std::vector<FlowRecord> flows_;
  std::vector<uint32_t> free_flows_;
  std::vector<Slot> slots_;
  std::vector<std::vector<uint32_t>> free_slots_;  // by number of slots: first slots of unused runs
  std::vector<uint32_t> dirty_, fresh_, touched_;
  std::vector<Priority> priorities_;  // the highest first
  int priorities_used_ = 0;           // number of priorities in use
  // While solving:
  uint32_t mark_ = 0;
  std::vector<uint32_t> part_;        // flows that are filled again
  std::vector<PartLink> part_links_;  // links of these flows
  size_t filled_ = 0;                 // number of part_links_ in filling_
  std::vector<uint32_t> local_, loose_;
  std::vector<double> left_;
  std::vector<double> new_level_;  // of part_
  std::vector<uint32_t> new_holder_;
  Filling filling_;
  uint64_t work_ = 0;
};

}  // namespace chakra
