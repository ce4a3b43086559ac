// The cost of a message on an idle fabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

// The cost of one message without contention.
struct FlowCost {
  Time latency;   // from first byte sent to first byte received
  Time transfer;  // bytes over the narrowest link (store and forward: the sum over all links)
  // From first to last byte leaving the source: bytes over the narrowest link (store and forward: the first).
  Time sent;
  Time received() const { return latency + transfer; }
  // The cost of this message of `bytes` if its sender produces at most `limit` (0: no limit).
  FlowCost Limited(uint64_t bytes, Bandwidth limit) const {
    if (limit.bytes_per_second() == 0 || transfer == Time::Never()) return *this;
    FlowCost slower = *this;
    // With store and forward, only the first of several transfers becomes slower.
    const Time own = TransferTime(bytes, limit), first = sent < transfer ? sent : transfer;
    if (own <= first) return slower;
    slower.sent += own - first;
    slower.transfer += own - first;
    return slower;
  }
};

// The part of a FlowCost that one link of the path accounts for.
struct LinkCost {
  size_t link_class = 0;  // index in Topology::link_classes()
  Time latency, transfer;
};

// A fabric that derives from PathPrices says what a message costs. For other fabrics, Machine uses the prices
// of `analytical`.
class PathPrices {
 public:
  virtual ~PathPrices() = default;

  // The cost between two devices, or between a switch (Topology::SwitchBetween()) and one of its devices.
  virtual FlowCost Cost(int src, int dst, uint64_t bytes) const = 0;
  // Cost() split by the links of the path; latencies and transfers add up to those of Cost(). The transfer
  // counts on the narrowest link (store and forward: on each link). Latency that belongs to no link counts
  // there too.
  virtual std::vector<LinkCost> CostByLinks(int src, int dst, uint64_t bytes) const {
    const FlowCost cost = Cost(src, dst, bytes);
    return {{0, cost.latency, cost.transfer}};
  }
  // True if flows never delay each other, so that Cost() is exact whatever else is under way. The engine may
  // then compute whole collectives in closed form and report their bytes with FabricReport::Account().
  virtual bool contention_free() const { return false; }
};

}  // namespace chakra
