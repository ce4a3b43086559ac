// `fluid`: flows share links max-min fairly, and rates change only when a flow
// comes or goes.
//
// A flow holds its path's links from its start (after FabricOptions::startup)
// until its last byte has left, at sent = start + the time that its rates take
// for its bytes; received = sent + sum of the path's latencies. Alone on its
// path it takes what `analytical` says, to the picosecond. This is the model of
// SimGrid's CM02 (Casanova and Marchal, "A Network Model for Simulation of Grid
// Application", 2002) without its correction factors.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/analytical/heap4.h"
#include "backends/analytical/path_cost.h"
#include "backends/fabric.h"
#include "backends/fluid/network.h"
#include "backends/registry.h"

namespace chakra {

class FluidFabric final : public Fabric {
 public:
  FluidFabric(const Topology& topology, const FabricOptions& options);

  FlowId Start(const Flow& flow, Time now) override;
  Time NextEvent() override;
  void AdvanceTo(Time t, std::vector<FlowEnd>* ended) override;
  FlowCost Cost(int src, int dst, uint64_t bytes) const override;
  void Account(int src, int dst, uint64_t bytes, uint64_t times) override {
    cost_.Account(src, dst, bytes, times);
  }
  int Level(int a, int b) const override { return cost_.topology().Level(a, b); }
  int Coordinate(int device, int level) const override { return cost_.topology().Coordinate(device, level); }
  int SwitchBetween(int a, int b) const override { return cost_.topology().SwitchBetween(a, b); }
  std::vector<DimensionTraffic> Traffic() const override { return cost_.Traffic(); }
  int devices() const override { return cost_.topology().devices(); }

  const FluidNetwork& network() const { return network_; }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  // At one instant flows begin and end before anything is told.
  enum Kind : uint8_t { kBegin, kEnd, kTellSent, kTellReceived };
  struct Event {
    Time at;
    uint64_t order_kind;  // order of Start times 4, plus the kind
    uint32_t transfer;
    uint32_t version;  // of an end: void when the transfer's rate has changed since
    bool Before(const Event& o) const { return at != o.at ? at < o.at : order_kind < o.order_kind; }
  };
  struct Transfer {
    Flow flow;
    uint64_t order = 0;
    uint32_t network_flow = kNone;
    uint32_t version = 0;
    Time begin;       // when it took its links
    Time since;       // of `left` and `rate`
    double left = 0;  // bytes
    double rate = 0;  // bytes a picosecond
    double most = 0;  // of the rate: the narrowest link of the path
    FlowCost alone;
  };

  uint32_t LinkOf(const Hop& hop);
  void Post(Time at, Kind kind, uint32_t transfer);
  void Begin(uint32_t transfer, Time now);
  void End(uint32_t transfer, Time now);
  void Reprice(uint32_t transfer, Time now);
  // Solves for what changed at the current instant.
  void Settle();
  void Handle(const Event& event, std::vector<FlowEnd>* ended);
  bool Void(const Event& e) const {
    return (e.order_kind & 3) == kEnd && transfers_[e.transfer].version != e.version;
  }

  mutable PathCost cost_;  // remembers transfer times
  FabricOptions options_;
  FluidNetwork network_;
  std::vector<uint32_t> link_of_;      // by the topology's number
  std::vector<uint32_t> transfer_of_;  // by the network's flow
  std::vector<Transfer> transfers_;
  std::vector<uint32_t> unused_;
  Heap4<Event> heap_;
  std::vector<uint32_t> changed_, path_links_;
  std::vector<Hop> path_;
  std::vector<FlowEnd> early_;  // ended before a Start, not yet told
  Time now_;
  uint64_t orders_ = 0;
};

}  // namespace chakra
