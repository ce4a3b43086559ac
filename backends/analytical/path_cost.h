// The cost of a path on an idle fabric. Each dimension adds one term; only networks need a walk over links.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/fabric.h"
#include "backends/fabric_report.h"
#include "backends/path_prices.h"
#include "backends/topology/routing/router.h"
#include "backends/topology/topology.h"

namespace chakra {

class PathCost {
 public:
  PathCost(const Topology& topology, bool store_and_forward, const RoutingOptions& routing);

  // Precondition: the topology has a path from src to dst. Not thread-safe, because it caches transfer times.
  // Never() if dead links cut dst off.
  FlowCost Price(int src, int dst, uint64_t bytes);
  FlowCost Price(const Route& route, uint64_t bytes);
  // The links that Price() counts. Empty if src is dst, or if dead links cut dst off.
  std::vector<RouteHop> Hops(int src, int dst);
  // Splits `cost`, the cost of this message on a fabric with these paths, as PathPrices::CostByLinks() does.
  // Where a message is split over several routes, a link's latency counts by the link's share of the message.
  std::vector<LinkCost> ByLinks(int src, int dst, uint64_t bytes, const FlowCost& cost);
  // Adds `times` messages to Traffic().
  void Account(int src, int dst, uint64_t bytes, uint64_t times);
  void Account(const Route& route, uint64_t bytes);
  // Price() and Account() in one pass.
  FlowCost PriceAndAccount(const Flow& flow);

  // The transfer time over a link of this class.
  Time Transfer(size_t link_class, uint64_t bytes);

  // Null if the topology has no network.
  Router* router() const { return router_.get(); }

  std::vector<DimensionTraffic> Traffic() const;
  const Topology& topology() const { return topology_; }

 private:
  struct Dim {
    TopologyDimension::Kind kind;
    int size;
    Time latency;
    size_t link_class;
    uint64_t carried = 0;  // payload bytes times links
  };
  struct Class {
    Bandwidth bandwidth;
    Time latency;
    uint64_t last_bytes = 0;  // argument and result of the last Transfer()
    Time last_time;
  };
  int Links(const Dim& d, int a, int b) const;
  template <bool kAccount>
  FlowCost Walk(int src, int dst, uint64_t bytes, uint64_t payload);
  FlowCost ToSwitch(int src, int dst, uint64_t bytes);

  Topology topology_;
  std::vector<Dim> dims_;
  std::vector<Class> classes_;
  std::unique_ptr<Router> router_;
  std::vector<double> shares_;  // by dimension: scratch space of Account()
  bool store_and_forward_;
};

inline Time PathCost::Transfer(size_t link_class, uint64_t bytes) {
  Class& c = classes_[link_class];
  if (c.last_bytes != bytes) {
    c.last_bytes = bytes;
    c.last_time = TransferTime(bytes, c.bandwidth);
  }
  return c.last_time;
}

inline int PathCost::Links(const Dim& d, int a, int b) const {
  switch (d.kind) {
    case TopologyDimension::Kind::kSwitch:
    case TopologyDimension::Kind::kNetwork:
      return 2;
    case TopologyDimension::Kind::kFullyConnected:
      return 1;
    case TopologyDimension::Kind::kRing:
      break;
  }
  const int up = b > a ? b - a : b - a + d.size;
  return up < d.size - up ? up : d.size - up;
}

template <bool kAccount>
inline FlowCost PathCost::Walk(int src, int dst, uint64_t bytes, uint64_t payload) {
  FlowCost answer;
  if (src == dst) return answer;
  if (topology_.IsSwitch(src) || topology_.IsSwitch(dst)) {
    if (kAccount) Account(src, dst, payload, 1);
    return ToSwitch(src, dst, bytes);
  }
  bool begun = false;
  for (size_t i = 0; i < dims_.size(); ++i) {
    const int a = topology_.Coordinate(src, static_cast<int>(i));
    const int b = topology_.Coordinate(dst, static_cast<int>(i));
    if (a == b) continue;
    Dim& d = dims_[i];
    const int links = Links(d, a, b);
    const Time transfer = Transfer(d.link_class, bytes);
    if (kAccount) d.carried += payload * static_cast<uint64_t>(links);
    if (!begun) answer.sent = transfer;
    begun = true;
    answer.latency += d.latency * links;
    if (store_and_forward_) {
      for (int k = 0; k < links; ++k) answer.transfer += transfer;
    } else if (transfer > answer.transfer) {
      answer.transfer = transfer;
    }
  }
  // The source cannot send faster than the narrowest link.
  if (!store_and_forward_) answer.sent = answer.transfer;
  return answer;
}

inline FlowCost PathCost::Price(int src, int dst, uint64_t bytes) {
  if (router_ != nullptr) return src == dst ? FlowCost() : Price(router_->Find(src, dst, 0), bytes);
  return Walk<false>(src, dst, bytes, 0);
}
inline FlowCost PathCost::PriceAndAccount(const Flow& flow) {
  if (router_ != nullptr) {
    if (flow.src == flow.dst) return FlowCost();
    const Route& route = router_->Find(flow.src, flow.dst, flow.tag);
    Account(route, flow.bytes);
    return Price(route, flow.OnLinks()).Limited(flow.OnLinks(), flow.limit);
  }
  const FlowCost cost = Walk<true>(flow.src, flow.dst, flow.OnLinks(), flow.bytes);
  return flow.src == flow.dst ? cost : cost.Limited(flow.OnLinks(), flow.limit);
}

}  // namespace chakra
