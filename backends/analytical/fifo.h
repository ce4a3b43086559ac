// `analytical-fifo`: like `analytical`, but each link (one direction) serves one message at a time, in the
// order in which heads of messages arrive (ties: order of Start).
//
// On link i of a path, the head of the message arrives at h and the tail at t:
//   begin  s = max(h, link free)
//   end    e = max(s + bytes / bandwidth, t)     the link is busy until then
// The head arrives at link i + 1 at s + latency (with store_and_forward: together with the tail), the tail at
// e + latency. sent = e of the first link, but not earlier than in `analytical`. received = e + latency of
// the last link, but not earlier than Flow::limit allows. A flow with Flow::limit
// keeps its links busy only for the time that its bytes need, although it is received later. A message that
// is alone on its path takes the same time as in `analytical`, to the picosecond. Buffers are unbounded.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/analytical/path_cost.h"
#include "backends/fabric.h"
#include "backends/fabric_options.h"
#include "trace/base/heap4.h"

namespace chakra {

class FifoFabric final : public Fabric, public PathPrices, public FabricReport {
 public:
  FifoFabric(const Topology& topology, const FabricOptions& options);

  FlowId Start(const Flow& flow, Time now) override;
  Time NextEvent() override;
  uint64_t FlowMemory(uint64_t /*bytes*/) const override { return sizeof(Message) + sizeof(Event); }
  void AdvanceTo(Time t, std::vector<FlowEnd>* ended) override;
  FlowCost Cost(int src, int dst, uint64_t bytes) const override { return cost_.Price(src, dst, bytes); }
  std::vector<LinkCost> CostByLinks(int src, int dst, uint64_t bytes) const override {
    return cost_.ByLinks(src, dst, bytes, Cost(src, dst, bytes));
  }
  void Account(int src, int dst, uint64_t bytes, uint64_t times) override {
    cost_.Account(src, dst, bytes, times);
  }
  std::vector<DimensionTraffic> Traffic() const override { return cost_.Traffic(); }

 private:
  enum Kind : uint8_t { kSent, kHead, kReceived };  // events of one instant are handled in this order

  struct Event {
    Time at;
    uint64_t order_kind;  // order of Start * 4 + kind
    uint32_t message;
    bool Before(const Event& o) const { return at != o.at ? at < o.at : order_kind < o.order_kind; }
  };
  struct Message {
    uint64_t bytes;
    uint64_t tag;
    Time delay;
    Time tail;   // when the tail arrives at the link that the head waits for
    Time least;  // earliest time to be received: Flow::limit
    PathCursor cursor;
    Hop hop;        // the link that the head waits for
    uint32_t next;  // next hop of the route, if there is a router
  };

  // Serves message `m`, whose head arrives at `head`, and posts its next events. Returns the end of the
  // service.
  Time Serve(uint32_t m, uint64_t order, Time head);
  bool NextHop(uint32_t m);
  void Post(Time at, uint64_t order, Kind kind, uint32_t m);
  void Run(Time t, std::vector<FlowEnd>* ended);

  mutable PathCost cost_;  // caches transfer times
  bool store_and_forward_;
  std::vector<Time> link_free_;
  Heap4<Event> heap_;
  std::vector<Message> messages_;
  std::vector<Route> routes_;  // by message; used if there is a router
  std::vector<uint32_t> unused_;
  std::vector<FlowEnd> early_;  // ends before the last Start() that AdvanceTo() has not reported yet
  FlowId flows_ = 0;
};

}  // namespace chakra
