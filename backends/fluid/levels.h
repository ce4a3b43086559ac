// Max-min fair rates where the end of one flow changes the rates of thousands: the cost of a solution depends
// on the links.
//
// A link has a level: the rate for a unit of weight of each flow that the link holds. A flow is held by the
// link of its path with the lowest level. The rates are max-min fair if each link that holds flows is full,
// no link carries more than its capacity, and no flow that another link holds has a higher level than the
// link's own (Bertsekas and Gallager, "Data Networks", 1992, section 6.5.2; links with such levels are the
// "advertised rates" of Charny, Clark and Jain, "Congestion control with explicit rate indication", 1995).
//
// The level of a link depends only on lower levels. So a change is repaired by one sweep over the links, from
// the lowest level that may change upwards. Each link sums the rates of flows that other links hold, and
// divides the rest among its own flows. If a link finds a flow with a higher level than its own, it takes
// over the flow. A link whose level passes those of others is moved in the order, and the sweep continues
// from there. The rates of flows are not stored: they are the levels of their holders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends/fluid/filling.h"
#include "backends/fluid/network.h"

namespace chakra {

class FluidLevels {
 public:
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr double kNoLevel = std::numeric_limits<double>::infinity();
  struct Moved {
    uint32_t flow;
    uint32_t from;  // holder before the last Solve(); kNone: the flow is new
  };

  // Adds a link of `capacity` > 0; links are numbered from 0.
  uint32_t AddLink(double capacity);
  size_t links() const { return links_.size(); }
  // Adds a flow over `hops` (at least one link, each at most once). `weight` > 0. Its rate is correct after
  // Solve(). Numbers of removed flows are reused.
  uint32_t AddFlow(const std::vector<FluidHop>& hops, double weight);
  void RemoveFlow(uint32_t flow);
  void Solve();
  bool dirty() const { return !dirty_.empty(); }

  size_t flows() const { return flows_.size() - free_flows_.size(); }
  size_t flows_on(uint32_t link) const { return links_[link].others.size() + links_[link].held.size(); }
  // The level of a link; kNoLevel: the link holds no flow.
  double level(uint32_t link) const { return level_[link]; }
  // The sum of the rates of all flows on a link.
  double used(uint32_t link) const { return links_[link].used; }
  size_t held(uint32_t link) const { return links_[link].held.size(); }  // number of flows that it holds
  uint32_t holder(uint32_t flow) const { return flows_[flow].holder; }
  double weight(uint32_t flow) const { return flows_[flow].weight; }
  double rate(uint32_t flow) const { return level_[flows_[flow].holder] * flows_[flow].weight; }
  // Call f(link, share) for each link of a flow, or f(flow) for each flow.
  template <typename F>
  void ForEachHop(uint32_t flow, F f) const {
    const FlowRecord& record = flows_[flow];
    for (uint32_t s = record.first; s < record.first + record.count; ++s) {
      f(slots_[s].link, slots_[s].weight / record.weight);
    }
  }
  template <typename F>
  void ForEach(F f) const {
    for (uint32_t flow = 0; flow < flows_.size(); ++flow) {
      if (flows_[flow].count > 0) f(flow);
    }
  }

  // Links with flows, ordered by level; those that hold none are last.
  const std::vector<uint32_t>& by_level() const { return order_; }
  // Changes of the last Solve(): links with another level or use, and flows that are new or have another
  // holder, each once. Both orders are the same for the same calls.
  const std::vector<uint32_t>& changed() const { return changed_; }
  const std::vector<Moved>& moved() const { return moved_; }

  // For tests: see FluidNetwork::IsMaxMin().
  bool IsMaxMin(double tolerance) const;
  // The number of sums of links in all calls of Solve(), and how often Solve() filled all links from the
  // start.
  uint64_t sums() const { return sums_; }
  uint64_t refills() const { return refills_; }

 private:
  struct Link {
    double capacity;
    double used = 0;
    double weight = 0;  // sum over the flows that it holds
    double summed = 0;  // `weight` at the last sum
    // Flows on the link that others hold. The holders are separate from slots and weights, because sums only
    // read holders and weights.
    std::vector<uint32_t> holders;
    std::vector<uint32_t> others;
    std::vector<double> weights;  // empty while all weights are 1
    std::vector<uint32_t> held;   // slots of the flows that it holds
    uint32_t place = kNone;       // index in order_
    bool dirty = false, changed = false;
    bool guessed = false;  // it held no flow before, and its level is a guess
  };
  struct FlowRecord {
    double weight = 0;
    uint32_t first = 0;  // first slot
    uint32_t count = 0;  // 0: no such flow
    uint32_t holder = kNone;
    uint32_t moved = kNone;  // index in moving_
  };
  // A flow on a link.
  struct Slot {
    double weight;  // weight of the flow times its share on this link
    uint32_t flow;
    uint32_t link;
    uint32_t place;  // index in `held` of the link if the link holds the flow, else in `others`
  };
  struct Sums {
    double used;  // rate of flows that others hold
    double top;   // highest level of these flows
  };
  struct Taken {
    uint32_t flow;
    uint32_t from;
  };

  void MarkDirty(uint32_t link);
  void MarkChanged(uint32_t link);
  void AddHeld(uint32_t slot);
  void RemoveHeld(uint32_t slot);
  void AddOther(uint32_t slot, uint32_t holder);
  void RemoveOther(uint32_t slot);
  void WeighAll();
  void Move(uint32_t flow, uint32_t to);
  Sums SumOthers(const Link& link) const;
  void TakeAbove(uint32_t link, double level);
  bool GiveBack(double level);
  double Evaluate(uint32_t link);
  size_t Place(size_t place);
  void Drop(size_t place);
  void Mark(uint32_t link, size_t* lowest);
  void MarkLinksOf(uint32_t flow, uint32_t but, size_t* lowest);
  void TellOthers(size_t place, size_t from, double old, size_t* lowest);
  // Sums the link at `place` again if needed; returns the place at which to continue.
  size_t Step(size_t place);
  // Returns false if the sweep takes too long.
  bool Sweep(size_t place);
  void Refill();

  std::vector<Link> links_;
  std::vector<double> level_;  // by link
  // While solving: a link must be summed again if it is marked, or if its level is >= told_level_ and its
  // last sum (seen_) is older than sum number told_.
  std::vector<uint64_t> seen_;
  std::vector<uint8_t> marked_;
  size_t marks_ = 0;
  uint64_t told_ = 0;
  double told_level_ = kNoLevel;
  size_t marked_for_ = 0;  // number of flows whose links were marked in this sweep
  std::vector<FlowRecord> flows_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_flows_;
  std::vector<std::vector<uint32_t>> free_slots_;  // by number of slots: first slots of unused runs
  std::vector<uint32_t> order_, dirty_, changed_;
  std::vector<Moved> moving_, moved_;  // since the last Solve(), and by the last Solve()
  std::vector<Taken> taken_;
  bool weighed_ = false;  // some weight is not 1
  size_t fresh_ = 0;      // flows added since the last Solve()
  uint64_t sums_ = 0, refills_ = 0;
  Filling filling_;
};

}  // namespace chakra
