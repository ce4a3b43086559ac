#include "test/peers/packets.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "backends/packet/packet_fabric.h"
#include "backends/topology/routing/router.h"
#include "bench/measure.h"

namespace chakra::peers {
namespace {

absl::StatusOr<Topology> Only(Network network) {
  TopologyDimension d;
  d.kind = TopologyDimension::Kind::kNetwork;
  d.size = static_cast<int>(network.graph.devices());
  d.name = "d";
  d.network = std::make_shared<const Network>(std::move(network));
  return Topology::Make({d});
}

}  // namespace

absl::StatusOr<Topology> OneNetwork(absl::StatusOr<NetworkGraph> graph) {
  if (!graph.ok()) return graph.status();
  Network network;
  network.graph = *std::move(graph);
  return Only(std::move(network));
}

absl::StatusOr<Topology> OneNetwork(absl::string_view text, int devices) {
  const auto spec = ParseNetworkSpec(text);
  if (!spec.ok()) return spec.status();
  auto network = BuildNetwork(*spec, devices);
  if (!network.ok()) return network.status();
  return Only(*std::move(network));
}

FabricOptions PeerOptions(uint32_t window) {
  FabricOptions o;
  o.routing.policy = RoutingPolicy::kDestination;  // no hash: the same routes everywhere
  packet::FixedWindow::Config c;
  c.bytes = static_cast<double>(window) * o.Ask<packet::PacketOptions>().mtu;
  o.Ask<packet::PacketOptions>().transport = c;
  return o;
}

Ns3Case Ns3CaseOf(const Topology& topology, const FabricOptions& options, const std::vector<Send>& sends) {
  Ns3Case out;
  const auto packet = options.Get<packet::PacketOptions>();
  out.mtu = packet.mtu;
  out.header = packet.header;
  out.ack = packet.ack;
  const auto* fixed = std::get_if<packet::FixedWindow::Config>(&packet.transport);
  Router router(topology, options.routing);
  std::map<uint64_t, uint32_t> vertices;
  std::map<uint32_t, uint32_t> links;  // by the topology's numbers
  const auto vertex = [&](uint64_t end) {
    return vertices.try_emplace(end, static_cast<uint32_t>(vertices.size())).first->second;
  };
  const auto way = [&](int src, int dst) {
    std::vector<uint32_t> found;
    for (const RouteHop& h : router.Find(src, dst, /*tag=*/0).hops) {
      const auto [link, first] = links.try_emplace(h.hop.link, static_cast<uint32_t>(out.links.size()));
      if (first) {
        const LinkClass& c = topology.link_classes()[h.hop.link_class];
        const Topology::Ends ends = topology.LinkEnds(h.hop.link);
        out.links.push_back({vertex(ends.from), vertex(ends.to),
                             static_cast<uint64_t>(c.bandwidth.bytes_per_second()), c.latency.picos()});
      }
      found.push_back(link->second);
    }
    return found;
  };
  for (const Send& s : sends) {
    Ns3Flow f;
    f.way = way(s.src, s.dst);
    f.back = way(s.dst, s.src);
    f.bytes = s.bytes;
    f.start = s.start.picos();
    f.window = static_cast<uint32_t>(fixed->bytes / out.mtu);
    out.flows.push_back(std::move(f));
  }
  return out;
}

PacketRun RunPacket(const Topology& topology, const FabricOptions& options, const std::vector<Send>& sends) {
  PacketRun run;
  run.received.assign(sends.size(), -1);
  const auto made = MakeFabric("packet", topology, options);
  if (!made.ok()) {
    run.error = std::string(made.status().message());
    return run;
  }
  Fabric& fabric = **made;
  std::vector<FlowEnd> ended;
  run.seconds = SecondsOf([&] {
    size_t next = 0;
    for (;;) {
      const Time first = next < sends.size() ? sends[next].start : Time::Never();
      const Time now = std::min(first, fabric.NextEvent(first));
      if (now == Time::Never()) return;
      ended.clear();
      fabric.AdvanceTo(now, &ended);
      for (const FlowEnd& e : ended) run.received[e.tag] = e.at.picos();
      for (; next < sends.size() && sends[next].start == now; ++next) {
        Flow f;
        f.src = sends[next].src;
        f.dst = sends[next].dst;
        f.bytes = sends[next].bytes;
        f.tag = next;
        fabric.Start(f, now);
      }
    }
  });
  if (const auto* packets = dynamic_cast<const packet::PacketFabric*>(&fabric))
    run.hops = packets->counters().hops;
  return run;
}

}  // namespace chakra::peers
