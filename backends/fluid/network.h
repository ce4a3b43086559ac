// Flows on links at one instant: weighted max-min fair rates, kept up to date
// as flows come and go.
//
// A rate vector is max-min fair when no flow's rate can grow but at the cost of
// one whose level (rate over weight) is as small or smaller (Bertsekas and
// Gallager, "Data Networks", 1992, section 6.5.2). It is unique, and it is this
// one: each flow is held by a link that is full and on which no flow has a
// higher level. Flows of a higher priority take what they can first.
//
// That is local to check, so it is kept up locally: when flows come or go, only
// those that lost their holder, or must make room, are filled anew against what
// the others leave them; whoever is then no longer held, or has more than a
// flow that its link holds, joins them, until all are held. Where priorities
// differ, all that hangs together is filled anew.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/fluid/filling.h"

namespace chakra {

// A link of a flow's path, and the share of the flow's rate that takes it (in
// (0, 1]; less than 1 where a flow is spread over several paths).
struct FluidHop {
  uint32_t link;
  double share = 1;
};

class FluidNetwork {
 public:
  // Adds a link of `capacity` >= 0 in any unit of rate; links count from 0.
  uint32_t AddLink(double capacity);
  void SetCapacity(uint32_t link, double capacity);
  size_t links() const { return links_.size(); }
  double capacity(uint32_t link) const { return links_[link].capacity; }

  // A flow over `hops`, each link at most once and at least one. `weight` > 0. Its
  // rate is 0 until Solve(). Numbers of removed flows are used again.
  uint32_t AddFlow(const std::vector<FluidHop>& hops, double weight, int priority);
  void RemoveFlow(uint32_t flow);
  // Of the links that it had when the rates were last solved.
  double rate(uint32_t flow) const { return flows_[flow].level * flows_[flow].weight; }
  // Flows on a link, and the rate that they take of it.
  size_t flows_on(uint32_t link) const { return links_[link].slots.size(); }
  double used(uint32_t link) const { return links_[link].used.value(); }

  // Finds the rates anew. `changed` gets the flows whose rate is not what it was,
  // in no order that matters to them, the same for the same calls.
  void Solve(std::vector<uint32_t>* changed);
  bool dirty() const { return !dirty_.empty(); }
  // The links that the last Solve() may have changed.
  const std::vector<uint32_t>& touched() const { return touched_; }
  // f(link, share) for each link of a flow; f(flow) for each flow on a link.
  template <typename F>
  void ForEachHop(uint32_t flow, F f) const {
    const FlowRecord& record = flows_[flow];
    for (uint32_t s = record.first; s < record.first + record.count; ++s) f(slots_[s].link, slots_[s].share);
  }
  template <typename F>
  void ForEachFlow(uint32_t link, F f) const {
    for (const uint32_t slot : links_[link].slots) f(slots_[slot].flow);
  }

  // Flows whose rates were computed, over all Solve()s.
  uint64_t work() const { return work_; }

  // For tests and debug builds: no link above its capacity, and each flow on a link
  // that is full and on which no flow has a higher level. Both to `tolerance`,
  // relative; where priorities differ, of the flow's own and higher ones.
  bool IsMaxMin(double tolerance) const;

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  // A sum that forgets nothing when what was added is taken away again.
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
  struct Link {
    double capacity;
    Sum used;
    Sum weight;        // of the flows on it, times their shares
    double bound = 0;  // no flow on it has a higher level
    double level = 0;  // of the flows that it holds
    std::vector<uint32_t> slots;
    std::vector<uint32_t> held;  // flows
    bool dirty = false;
    bool joined = false;  // by flows that have no rate yet, or of less capacity
    // While solving:
    uint32_t mark = 0;
    uint32_t local = 0;  // in the filling
    uint32_t free = 0;   // flows on it that are filled anew
    Sum fixed;           // what the others take
  };
  struct FlowRecord {
    double weight = 0;
    double level = 0;    // rate over weight
    uint32_t first = 0;  // slot
    uint32_t count = 0;  // 0: not there
    uint32_t mark = 0;   // is filled anew
    uint32_t holder = kNone;
    uint32_t place = 0;  // in the holder's list
    int priority = 0;
    bool fresh = false;  // has no rate yet
  };
  // A flow on a link.
  struct Slot {
    double share;
    uint32_t flow;
    uint32_t link;
    uint32_t place;  // in the link's list
  };

  struct Priority {
    int priority;
    int64_t flows;  // that are there
  };

  void MarkDirty(uint32_t link);
  void CountPriority(int priority, int by);
  uint32_t TakeSlots(uint32_t count);
  void Hold(uint32_t flow, uint32_t link, double level);
  void Release(uint32_t flow);
  void Touch(uint32_t link);
  // To be filled anew.
  void Free(uint32_t flow);
  bool InFilling(const Link& link) const { return link.mark == mark_ && link.local < filled_; }
  double Left(const Link& link) const;
  // Those that `link` holds no longer: another link does, or they are freed.
  void Loosen(uint32_t link);
  bool HeldElsewhere(uint32_t flow, uint32_t but);
  void FreeAbove(uint32_t link, double level);
  bool SetAlone(uint32_t flow);
  void Seed(std::vector<uint32_t>* changed);
  void Fill(int priority, bool all, const std::vector<double>& left);
  void FillPart();
  // Frees who is no longer held, or must make room. False: nobody.
  bool Spread();
  void FreeAllThatHangsTogether();
  void Commit(std::vector<uint32_t>* changed);

  std::vector<Link> links_;
  std::vector<FlowRecord> flows_;
  std::vector<uint32_t> free_flows_;
  std::vector<Slot> slots_;
  std::vector<std::vector<uint32_t>> free_slots_;  // by count: runs
  std::vector<uint32_t> dirty_, fresh_, touched_;
  std::vector<Priority> priorities_;  // the highest first
  int priorities_used_ = 0;           // by flows that are there
  // While solving:
  uint32_t mark_ = 0;
  std::vector<uint32_t> part_;        // flows that are filled anew
  std::vector<uint32_t> part_links_;  // theirs
  size_t filled_ = 0;                 // of those, in filling_
  std::vector<uint32_t> local_, loose_;
  std::vector<double> left_;
  std::vector<double> new_level_;  // of part_
  std::vector<uint32_t> new_holder_;
  Filling filling_;
  uint64_t work_ = 0;
};

}  // namespace chakra
