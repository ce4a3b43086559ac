// Progressive filling of flows on links: all rates grow in proportion to their
// weights until a link is full, whose flows then stand still, and so on
// (Bertsekas and Gallager, "Data Networks", 1992, section 6.5.2).
#pragma once

#include <cstdint>
#include <vector>

#include "trace/base/heap4.h"

namespace chakra {

// One problem at a time: Clear(), add links, add flows, Run(), read. Links and
// flows count from 0 in the order in which they were added. Keeps its memory.
class Filling {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  void Clear();
  uint32_t AddLink(double left);  // what flows may take of it, >= 0
  // The next On()s are the flow's links. `weight` > 0.
  void AddFlow(double weight);
  // A link of the last flow, which takes `share` of the flow's rate.
  void On(uint32_t link, double share);
  void Run();

  // Of a flow: rate over weight, and the link that stopped it.
  double level(uint32_t flow) const { return flows_[flow].level; }
  uint32_t holder(uint32_t flow) const { return flows_[flow].holder; }
  // Of a link: what is left of it; the highest level of a flow on it (-1: there is
  // none); the level at which it stopped flows (-1: it stopped none).
  double left(uint32_t link) const { return links_[link].left; }
  double top(uint32_t link) const { return links_[link].top; }
  double stop(uint32_t link) const { return links_[link].stop; }

 private:
  struct LinkState {
    double left;
    double scale;  // of rounding: what was left at first
    double top = -1;
    double stop = -1;
    double all = 0;        // weight when it was last summed up
    double weight = 0;     // of the flows that still grow, times their shares
    double summed = 0;     // `weight` when it was last summed up
    uint32_t growing = 0;  // their number
    uint32_t first = 0;    // of its slots in by_link_
    uint32_t count = 0;
  };
  struct FlowState {
    double weight;
    double level = -1;
    uint32_t holder = kNone;
    uint32_t first;  // slot; the end is the next flow's first
  };
  struct Slot {
    uint32_t link;
    double share;
  };
  struct Full {
    double level;  // at which the link is full
    uint32_t link;
    bool Before(const Full& o) const { return level != o.level ? level < o.level : link < o.link; }
  };
  void Stop(uint32_t flow, double level, uint32_t link);
  void SumWeights(LinkState* link);

  std::vector<LinkState> links_;
  std::vector<FlowState> flows_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> by_link_;  // flows
  Heap4<Full> heap_;
};

}  // namespace chakra
