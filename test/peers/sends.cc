#include "test/peers/sends.h"

#include <algorithm>
#include <map>
#include <utility>

#include "backends/topology/routing/router.h"
#include "bench/measure.h"

namespace chakra::peers {

absl::StatusOr<Topology> OneDimension(TopologyDimension::Kind kind, int devices, Time latency) {
  TopologyDimension d;
  d.kind = kind;
  d.size = devices;
  d.bandwidth = Bandwidth::FromGigabytes(50);
  d.latency = latency;
  d.name = "d";
  return Topology::Make({d});
}

PeerCase CaseOf(const Topology& topology, const RoutingOptions& routing, const std::vector<Send>& sends) {
  PeerCase out;
  Router router(topology, routing);
  std::map<std::pair<int, int>, uint32_t> routes;
  std::map<uint32_t, uint32_t> links;  // those on a route, by the topology's numbers
  for (const Send& s : sends) {
    const auto [route, is_new] = routes.try_emplace({s.src, s.dst}, static_cast<uint32_t>(out.routes.size()));
    if (is_new) {
      PeerRoute r{s.src, s.dst, {}};
      for (const RouteHop& h : router.Find(s.src, s.dst, /*tag=*/0).hops) {
        const auto [link, first] = links.try_emplace(h.hop.link, static_cast<uint32_t>(out.links.size()));
        if (first) {
          const LinkClass& c = topology.link_classes()[h.hop.link_class];
          out.links.push_back({static_cast<double>(c.bandwidth.bytes_per_second()), c.latency.seconds()});
        }
        r.links.push_back(link->second);
      }
      out.routes.push_back(std::move(r));
    }
    out.flows.push_back({route->second, s.bytes, s.start.seconds(), s.times});
  }
  return out;
}

std::vector<double> RunFluid(const Topology& topology, const FabricOptions& options,
                             const std::vector<Send>& sends, double* seconds) {
  std::vector<double> received(sends.size(), -1);
  auto fabric = MakeFabric("fluid", topology, options);
  if (!fabric.ok()) return received;
  std::vector<int> left;
  for (const Send& s : sends) left.push_back(s.times);
  const auto start = [&](size_t i, Time now) {
    Flow f;
    f.src = sends[i].src;
    f.dst = sends[i].dst;
    f.bytes = sends[i].bytes;
    f.tag = i;
    f.service_class = sends[i].service_class;
    (*fabric)->Start(f, now);
  };
  std::vector<FlowEnd> ended;
  *seconds = SecondsOf([&] {
    size_t next = 0;
    for (;;) {
      const Time first = next < sends.size() ? sends[next].start : Time::Never();
      const Time now = std::min(first, (*fabric)->NextEvent());
      if (now == Time::Never()) return;
      ended.clear();
      (*fabric)->AdvanceTo(now, &ended);
      for (const FlowEnd& e : ended) {
        received[e.tag] = e.at.seconds();
        if (--left[e.tag] > 0) start(e.tag, e.at);
      }
      for (; next < sends.size() && sends[next].start == now; ++next) start(next, now);
    }
  });
  return received;
}

}  // namespace chakra::peers
