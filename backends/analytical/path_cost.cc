#include "backends/analytical/path_cost.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace chakra {

PathCost::PathCost(const Topology& topology, bool store_and_forward, const RoutingOptions& routing)
    : topology_(topology), store_and_forward_(store_and_forward) {
  for (const LinkClass& c : topology_.link_classes()) classes_.push_back(Class{c.bandwidth, c.latency});
  for (size_t i = 0; i < topology_.dimensions().size(); ++i) {
    const TopologyDimension& d = topology_.dimensions()[i];
    dims_.push_back(Dim{d.kind, d.size, d.latency, topology_.FirstClass(static_cast<int>(i))});
  }
  if (topology_.has_network()) router_ = std::make_unique<Router>(topology_, routing);
}

FlowCost PathCost::Price(const Route& route, uint64_t bytes) {
  FlowCost cost;
  if (!route.found) return {Time::Never(), Time::Never(), Time::Never()};
  cost.latency = route.latency;
  Time first;
  for (size_t i = 0; i < route.hops.size(); ++i) {
    const RouteHop& h = route.hops[i];
    Time transfer = Transfer(h.hop.link_class, bytes);
    if (h.share < 1) {
      const double ps = std::ceil(static_cast<double>(transfer.picos()) * h.share);
      transfer = Time::Picos(static_cast<int64_t>(std::min(ps, 9.2e18)));
    }
    if (i == 0) first = transfer;
    cost.transfer = store_and_forward_ ? cost.transfer + transfer : std::max(cost.transfer, transfer);
  }
  cost.sent = store_and_forward_ ? first : cost.transfer;
  return cost;
}

std::vector<RouteHop> PathCost::Hops(int src, int dst) {
  if (src == dst) return {};
  if (router_ != nullptr) return router_->Find(src, dst, 0).hops;
  std::vector<Hop> path;
  topology_.Path(src, dst, &path);
  std::vector<RouteHop> hops;
  for (const Hop& hop : path) hops.push_back({hop});
  return hops;
}

std::vector<LinkCost> PathCost::ByLinks(int src, int dst, uint64_t bytes, const FlowCost& cost) {
  const std::vector<RouteHop> hops = Hops(src, dst);
  std::vector<LinkCost> out;
  if (hops.empty()) return out;
  FlowCost rest = cost;
  double most = -1;
  size_t narrowest = 0;
  for (const RouteHop& h : hops) {
    const Time transfer = Transfer(h.hop.link_class, bytes);
    const double taken = static_cast<double>(transfer.picos()) * h.share;
    if (taken > most) narrowest = out.size();
    most = std::max(most, taken);
    const double latency = static_cast<double>(classes_[h.hop.link_class].latency.picos()) * h.share;
    LinkCost link{h.hop.link_class, std::min(rest.latency, Time::Picos(static_cast<int64_t>(latency))),
                  Time()};
    if (store_and_forward_) link.transfer = std::min(rest.transfer, transfer);
    rest.latency -= link.latency;
    rest.transfer -= link.transfer;
    out.push_back(link);
  }
  out[narrowest].latency += rest.latency;
  out[narrowest].transfer += rest.transfer;
  return out;
}

void PathCost::Account(const Route& route, uint64_t bytes) {
  if (!route.split) {
    for (const RouteHop& h : route.hops) dims_[h.hop.dimension].carried += bytes;
    return;
  }
  shares_.assign(dims_.size(), 0);
  for (const RouteHop& h : route.hops) shares_[h.hop.dimension] += h.share;
  for (size_t i = 0; i < dims_.size(); ++i) {
    dims_[i].carried += static_cast<uint64_t>(std::llround(static_cast<double>(bytes) * shares_[i]));
  }
}

FlowCost PathCost::ToSwitch(int src, int dst, uint64_t bytes) {
  const auto dim = static_cast<size_t>(topology_.Level(src, dst));
  const Time transfer = Transfer(dims_[dim].link_class, bytes);
  return {dims_[dim].latency, transfer, transfer};
}

void PathCost::Account(int src, int dst, uint64_t bytes, uint64_t times) {
  if (router_ != nullptr) {
    if (src != dst) Account(router_->Find(src, dst, 0), bytes * times);
    return;
  }
  if (src != dst && (topology_.IsSwitch(src) || topology_.IsSwitch(dst))) {
    dims_[static_cast<size_t>(topology_.Level(src, dst))].carried += bytes * times;
    return;
  }
  for (size_t i = 0; i < dims_.size(); ++i) {
    const int links =
        topology_.LinksWithin(static_cast<int>(i), topology_.Coordinate(src, static_cast<int>(i)),
                              topology_.Coordinate(dst, static_cast<int>(i)));
    dims_[i].carried += bytes * times * static_cast<uint64_t>(links);
  }
}

std::vector<DimensionTraffic> PathCost::Traffic() const {
  std::vector<DimensionTraffic> traffic;
  for (size_t i = 0; i < dims_.size(); ++i) {
    const TopologyDimension& d = topology_.dimensions()[i];
    traffic.push_back({d.name, std::string(Name(d.kind)), d.size, dims_[i].carried});
  }
  return traffic;
}

}  // namespace chakra
