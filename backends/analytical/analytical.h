// `analytical`: a flow needs latency + bytes / narrowest bandwidth, without contention.
//
// received = now + sum of the path's latencies + bytes / narrowest bandwidth (cut-through: Kermani and
// Kleinrock, "Virtual Cut-Through", 1979, without the time of the header). With store_and_forward, the sum of
// bytes / bandwidth over the links replaces the second term. sent = now + bytes / narrowest bandwidth (with
// store_and_forward: over the first link's bandwidth). A flow whose end would pass Time::Never() never ends.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/analytical/path_cost.h"
#include "backends/fabric.h"
#include "backends/fabric_options.h"
#include "trace/base/heap4.h"

namespace chakra {

class AnalyticalFabric final : public Fabric, public PathPrices, public FabricReport {
 public:
  AnalyticalFabric(const Topology& topology, const FabricOptions& options);

  FlowId Start(const Flow& flow, Time now) override;
  Time NextEvent() override { return heap_.empty() ? Time::Never() : heap_.top().at; }
  uint64_t FlowMemory(uint64_t /*bytes*/) const override { return sizeof(End); }
  void AdvanceTo(Time t, std::vector<FlowEnd>* ended) override;
  bool contention_free() const override { return true; }
  FlowCost Cost(int src, int dst, uint64_t bytes) const override { return cost_.Price(src, dst, bytes); }
  std::vector<LinkCost> CostByLinks(int src, int dst, uint64_t bytes) const override {
    return cost_.ByLinks(src, dst, bytes, Cost(src, dst, bytes));
  }
  void Account(int src, int dst, uint64_t bytes, uint64_t times) override {
    cost_.Account(src, dst, bytes, times);
  }
  std::vector<DimensionTraffic> Traffic() const override { return cost_.Traffic(); }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr size_t kRecent = 1024;  // a power of two

  // Many flows end at one instant, so the heap holds instants, each with a list of ends in order of Start.
  // The heap may hold an instant twice, if the instant had left recent_ before the second list began. Then
  // the earlier list comes first.
  struct Instant {
    Time at;
    uint64_t order;
    uint32_t head;  // first end of the list
    bool Before(const Instant& o) const { return at != o.at ? at < o.at : order < o.order; }
  };
  struct End {
    uint64_t tag;
    uint32_t next;
    FlowEnd::Kind kind;
  };
  struct Recent {
    Time at = Time::Never();
    uint32_t tail = kNone;
  };

  Recent& RecentOf(Time t) { return recent_[static_cast<uint64_t>(t.picos()) * 0x9e3779b97f4a7c15u >> 54]; }
  void Push(Time at, uint64_t tag, FlowEnd::Kind kind);

  mutable PathCost cost_;  // caches transfer times
  Heap4<Instant> heap_;
  std::vector<End> ends_;
  uint32_t free_ = kNone;  // list of unused ends
  std::vector<Recent> recent_;
  uint64_t instants_ = 0;
  FlowId flows_ = 0;
};

}  // namespace chakra
