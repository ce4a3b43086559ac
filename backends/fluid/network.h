// Flows on links at one instant: weighted max-min fair rates, kept up to date
// as flows come and go.
//
// A rate vector is max-min fair when no flow's rate can grow but at the cost of
// one whose rate over weight is as small or smaller (Bertsekas and Gallager,
// "Data Networks", 1992, section 6.5.2). It is unique, and found by filling:
// all rates grow in proportion to their weights until a link is full, whose flows
// then stand still, and so on. Flows of a higher priority are filled first, the
// others with what is left.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/analytical/heap4.h"

namespace chakra {

class FluidNetwork {
 public:
  // Adds a link of `capacity` > 0 in any unit of rate; links count from 0.
  uint32_t AddLink(double capacity);
  size_t links() const { return links_.size(); }
  double capacity(uint32_t link) const { return links_[link].capacity; }

  // A flow over `links`, each at most once and at least one. `weight` > 0. Its
  // rate is 0 until Solve(). Numbers of removed flows are used again.
  uint32_t AddFlow(const std::vector<uint32_t>& links, double weight, int priority);
  void RemoveFlow(uint32_t flow);
  // Of the links that it had when the rates were last solved.
  double rate(uint32_t flow) const { return flows_[flow].rate; }

  // Solves again for the flows that share links, directly or through others, with
  // those that came or went since. `changed` gets the flows whose rate is not what
  // it was, in no order that matters to them, the same for the same calls.
  void Solve(std::vector<uint32_t>* changed);
  bool dirty() const { return !dirty_.empty(); }

  // Flows whose rates were computed, over all Solve()s.
  uint64_t work() const { return work_; }

  // For tests and debug builds: no link above its capacity, and each flow on a link
  // that is full and on which no flow has more for its weight. Both to `tolerance`,
  // relative; where priorities differ, of the flow's own and higher ones.
  bool IsMaxMin(double tolerance) const;

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Link {
    double capacity;
    double left = 0;    // while solving
    double weight = 0;  // of the flows on it that still grow, and their number
    uint32_t growing = 0;
    uint32_t head = kNone;  // of the list of its slots
    uint32_t mark = 0;
    bool dirty = false;
  };
  struct FlowRecord {
    double weight = 0;
    double rate = 0;
    double solved = 0;   // while solving
    uint32_t first = 0;  // slot
    uint32_t count = 0;  // 0: not there
    uint32_t mark = 0;
    int priority = 0;
    bool fixed = false;
  };
  // A flow on a link.
  struct Slot {
    uint32_t flow;
    uint32_t link;
    uint32_t next, previous;  // on the link
  };
  struct Fill {
    double share;  // rate for a weight of 1 at which the link is full
    uint32_t link;
    bool Before(const Fill& o) const { return share != o.share ? share < o.share : link < o.link; }
  };

  void MarkDirty(uint32_t link);
  uint32_t TakeSlots(uint32_t count);
  void Gather();
  void FillPriority(int priority);
  void Fix(uint32_t flow, double rate);

  std::vector<Link> links_;
  std::vector<FlowRecord> flows_;
  std::vector<uint32_t> free_flows_;
  std::vector<Slot> slots_;
  std::vector<std::vector<uint32_t>> free_slots_;  // by count: runs
  std::vector<uint32_t> dirty_;
  uint32_t mark_ = 0;
  // Of the part that is being solved.
  std::vector<uint32_t> part_links_, part_flows_;
  std::vector<int> priorities_;
  Heap4<Fill> heap_;
  uint64_t work_ = 0;
};

}  // namespace chakra
