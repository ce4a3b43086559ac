// Progressive filling of links by flows: all rates grow in proportion to their weights until a link is full;
// the flows of this link then stop, and the others continue to grow (Bertsekas and Gallager, "Data Networks",
// 1992, section 6.5.2).
#pragma once

#include <cstdint>
#include <vector>

#include "trace/base/heap4.h"

namespace chakra {

// Solves one problem at a time: Clear(), add links, add flows, Run(), read the results. Links and flows are
// numbered from 0 in the order of their addition. Memory is reused.
class Filling {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  void Clear();
  uint32_t AddLink(double left);  // capacity for the flows, >= 0
  // Adds a flow; the next calls of On() give its links. `weight` > 0.
  void AddFlow(double weight);
  // Adds a link to the last flow; the link carries `share` of the flow's rate.
  void On(uint32_t link, double share);
  void Run();

  // For a flow: rate / weight, and the link that stopped it.
  double level(uint32_t flow) const { return flows_[flow].level; }
  uint32_t holder(uint32_t flow) const { return flows_[flow].holder; }
  // For a link: the capacity that is left; the highest level of a flow on it (-1: no flows); the level at
  // which it stopped flows (-1: it stopped none).
  double left(uint32_t link) const { return links_[link].left; }
  double top(uint32_t link) const { return links_[link].top; }
  double stop(uint32_t link) const { return links_[link].stop; }

 private:
  struct LinkState {
    double left;
    double scale;  // scale of rounding errors: the initial capacity
    double top = -1;
    double stop = -1;
    double all = 0;        // weight of all its flows at the last sum
    double weight = 0;     // sum of weight * share of the flows that still grow
    double summed = 0;     // `weight` at the last sum
    uint32_t growing = 0;  // number of flows that still grow
    uint32_t first = 0;    // first of its slots in by_link_
    uint32_t count = 0;
  };
  struct FlowState {
    double weight;
    double level = -1;
    uint32_t holder = kNone;
    uint32_t first;  // first slot; the next flow's first slot is the end
  };
  struct Slot {
    uint32_t link;
    double share;
  };
  struct Full {
    double level;  // the level at which the link is full
    uint32_t link;
    bool Before(const Full& o) const { return level != o.level ? level < o.level : link < o.link; }
  };
  void Stop(uint32_t flow, double level, uint32_t link);
  void SumWeights(LinkState* link);

  std::vector<LinkState> links_;
  std::vector<FlowState> flows_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> by_link_;  // flows of each link, one link after the other
  Heap4<Full> heap_;
};

}  // namespace chakra
