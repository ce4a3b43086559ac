// Max-min fair rates where one flow's end changes the rates of thousands: the work of a solution is by links.
//
// A link has a level: what each flow that the link holds gets for a unit of weight. A flow is held by the
// link of its path with the lowest level. The rates are max-min fair if each link that holds flows is full,
// no link carries more than its capacity, and no flow that another link holds has a higher level than the
// link's own (Bertsekas and Gallager, "Data Networks", 1992, section 6.5.2; links with such levels are the
// "advertised rates" of Charny, Clark and Jain, "Congestion control with explicit rate indication", 1995).
//
// The level of a link depends on lower levels only. So a change is repaired by one sweep over the links, from
// the lowest level that may change upwards: each link sums what flows held elsewhere take, and shares the
// rest among its own. A flow that a link finds at a higher level than the link's own becomes the link's. A
// link that passes others takes its place among them, and the sweep goes on from there. The rates of flows
// are not touched: they are their holders' levels.
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
    uint32_t from;  // its holder at the Solve() before; kNone: the flow is new
  };

  // Adds a link of `capacity` > 0; links count from 0.
  uint32_t AddLink(double capacity);
  size_t links() const { return links_.size(); }
  // A flow over `hops`, each link at most once and at least one. `weight` > 0. Its rate is right after
  // Solve(). Numbers of removed flows are reused.
  uint32_t AddFlow(const std::vector<FluidHop>& hops, double weight);
  void RemoveFlow(uint32_t flow);
  void Solve();
  bool dirty() const { return !dirty_.empty(); }

  size_t flows() const { return flows_.size() - free_flows_.size(); }
  size_t flows_on(uint32_t link) const { return links_[link].others.size() + links_[link].held.size(); }
  // Of a link; kNoLevel: the link holds no flow.
  double level(uint32_t link) const { return level_[link]; }
  // The rate that flows take of a link.
  double used(uint32_t link) const { return links_[link].used; }
  size_t held(uint32_t link) const { return links_[link].held.size(); }  // flows that it holds
  uint32_t holder(uint32_t flow) const { return flows_[flow].holder; }
  double weight(uint32_t flow) const { return flows_[flow].weight; }
  double rate(uint32_t flow) const { return level_[flows_[flow].holder] * flows_[flow].weight; }
  // f(link, share) for each link of a flow; f(flow) for all flows.
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

  // Links with flows, by level; those that hold none are last.
  const std::vector<uint32_t>& by_level() const { return order_; }
  // What the last Solve() changed: links whose level or use did, and flows of another holder (or new), each
  // once. Both orders are the same for the same calls.
  const std::vector<uint32_t>& changed() const { return changed_; }
  const std::vector<Moved>& moved() const { return moved_; }

  // For tests: see FluidNetwork::IsMaxMin().
  bool IsMaxMin(double tolerance) const;
  // The number of links that all calls of Solve() summed, and how often Solve() filled everything.
  uint64_t sums() const { return sums_; }
  uint64_t refills() const { return refills_; }

 private:
  struct Link {
    double capacity;
    double used = 0;
    double weight = 0;  // of the flows that it holds
    double summed = 0;  // `weight` when last summed
    // Flows on it that others hold: their holders, apart from their slots and weights, for sums read these.
    std::vector<uint32_t> holders;
    std::vector<uint32_t> others;
    std::vector<double> weights;  // empty while all weights are 1
    std::vector<uint32_t> held;   // slots of the flows that it holds
    uint32_t place = kNone;       // in order_
    bool dirty = false, changed = false;
    bool guessed = false;  // it held no flow until now, and its level is a guess
  };
  struct FlowRecord {
    double weight = 0;
    uint32_t first = 0;  // slot
    uint32_t count = 0;  // 0: no such flow
    uint32_t holder = kNone;
    uint32_t moved = kNone;  // in moving_
  };
  // A flow on a link.
  struct Slot {
    double weight;  // of the flow, times its share on this link
    uint32_t flow;
    uint32_t link;
    uint32_t place;  // in `held` of the link if the link holds the flow, else in `others`
  };
  struct Sums {
    double used;  // by the flows of others
    double top;   // their highest level
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
  // Sums the link at `place` again if it must be; returns the place from which to go on.
  size_t Step(size_t place);
  // False: it took too long.
  bool Sweep(size_t place);
  void Refill();

  std::vector<Link> links_;
  std::vector<double> level_;  // by link
  // While solving: links to sum again are marked, or have a level >= told_level_ and were seen (summed)
  // before sum number `told_`.
  std::vector<uint64_t> seen_;
  std::vector<uint8_t> marked_;
  size_t marks_ = 0;
  uint64_t told_ = 0;
  double told_level_ = kNoLevel;
  size_t marked_for_ = 0;  // flows, in this sweep
  std::vector<FlowRecord> flows_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_flows_;
  std::vector<std::vector<uint32_t>> free_slots_;  // by count: runs
  std::vector<uint32_t> order_, dirty_, changed_;
  std::vector<Moved> moving_, moved_;  // since the last Solve(), and by it
  std::vector<Taken> taken_;
  bool weighed_ = false;  // some weight is not 1
  size_t fresh_ = 0;      // flows that came since the last Solve()
  uint64_t sums_ = 0, refills_ = 0;
  Filling filling_;
};

}  // namespace chakra
