// What messages cost on an idle fabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

// Uncontended cost of one message.
struct FlowCost {
  Time latency;   // from first byte sent to first byte received
  Time transfer;  // bytes over the narrowest link (store and forward: sum over links)
  Time sent;      // from first to last byte leaving the source: bytes over the narrowest link
                  // (store and forward: over the first)
  Time received() const { return latency + transfer; }
  // The same for a message of `bytes` whose sender makes at most `limit` (0: no limit).
  FlowCost Limited(uint64_t bytes, Bandwidth limit) const {
    if (limit.bytes_per_second() == 0 || transfer == Time::Never()) return *this;
    FlowCost slower = *this;
    // Store and forward: the sender is the first of several that take their time.
    const Time own = TransferTime(bytes, limit), first = sent < transfer ? sent : transfer;
    if (own <= first) return slower;
    slower.sent += own - first;
    slower.transfer += own - first;
    return slower;
  }
};

// What links of one kind take of a FlowCost.
struct LinkCost {
  size_t link_class = 0;  // of Topology::link_classes()
  Time latency, transfer;
};

// A fabric that derives from PathPrices says what a message costs. For other
// fabrics Machine takes the prices of `analytical`.
class PathPrices {
 public:
  virtual ~PathPrices() = default;

  // Between two devices, or a switch (Topology::SwitchBetween()) and a device on it.
  virtual FlowCost Cost(int src, int dst, uint64_t bytes) const = 0;
  // The same by the links of the path: their latencies and transfers add up to its. Bytes take their time on
  // the narrowest link (store and forward: on each), and so does what is no link's own latency.
  virtual std::vector<LinkCost> CostByLinks(int src, int dst, uint64_t bytes) const {
    const FlowCost cost = Cost(src, dst, bytes);
    return {{0, cost.latency, cost.transfer}};
  }
  // True when flows never delay each other, so that Cost() is exact whatever
  // else is in flight. The engine may then answer whole collectives in closed
  // form, and tell of their bytes by FabricReport::Account().
  virtual bool contention_free() const { return false; }
};

}  // namespace chakra
