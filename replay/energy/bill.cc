#include "replay/energy/bill.h"

#include <algorithm>
#include <map>

#include "backends/topology/graph.h"
#include "backends/topology/network.h"

namespace chakra::energy {
namespace {

using Links = std::map<double, LinkBill>;

constexpr int64_t kFastestCard =
    150000000000;  // B/s: no network card has 1.2 Tb/s; NVLink and its like have more

LinkBill& LinksOf(Bandwidth bandwidth, Links* links) {
  const double gbits = static_cast<double>(bandwidth.bytes_per_second()) * 8e-9;
  LinkBill& bill = (*links)[gbits];
  bill.gbits_per_s = gbits;
  return bill;
}

bool InNode(VertexKind kind) {
  return kind == VertexKind::kNvSwitch || kind == VertexKind::kPcieSwitch || kind == VertexKind::kHost;
}

void AddNetwork(const NetworkGraph& graph, int64_t copies, Links* links) {
  for (uint32_t v = 0; v < graph.vertices(); ++v) {
    const VertexKind from = graph.kind(v);
    for (uint32_t arc = graph.begin(v); arc < graph.end(v); ++arc) {
      if (arc > graph.reverse(arc)) continue;  // each link once
      const VertexKind to = graph.kind(graph.target(arc));
      if (InNode(from) || InNode(to)) continue;
      const int ports = (from == VertexKind::kSwitch) + (to == VertexKind::kSwitch);
      const bool card = from == VertexKind::kNic || to == VertexKind::kNic;
      const bool device = from == VertexKind::kDevice || to == VertexKind::kDevice;
      if (ports == 0 && card && device) continue;  // a device and its NIC
      LinkBill& bill = LinksOf(graph.link_class(arc).bandwidth, links);
      bill.links += copies;
      bill.switch_ports += copies * ports;
      if (ports < 2) bill.first_hop += copies;
    }
  }
}

void AddDimension(const Topology& topology, const TopologyDimension& d, Links* links) {
  LinkBill& bill = LinksOf(d.bandwidth, links);
  const int64_t devices = topology.devices();
  int64_t count = devices;  // one link for each device's port
  if (d.kind == TopologyDimension::Kind::kFullyConnected) count = devices * (d.size - 1) / 2;
  if (d.kind == TopologyDimension::Kind::kRing && d.size == 2) count = devices / 2;
  bill.links += count;
  bill.first_hop += count;
  if (d.kind == TopologyDimension::Kind::kSwitch) bill.switch_ports += count;
}

}  // namespace

int64_t Bill::switch_ports() const {
  int64_t sum = 0;
  for (const LinkBill& l : links) sum += l.switch_ports;
  return sum;
}

int64_t Bill::switch_transceivers(bool copper_first_hop) const {
  int64_t sum = 0;
  for (const LinkBill& l : links)
    sum += l.switch_ports - (copper_first_hop ? std::min(l.first_hop, l.switch_ports) : 0);
  return sum;
}

int64_t Bill::transceivers(bool copper_first_hop) const {
  int64_t sum = 0;
  for (const LinkBill& l : links) sum += 2 * (l.links - (copper_first_hop ? l.first_hop : 0));
  return sum;
}

double Bill::switch_gbits_per_s() const {
  double sum = 0;
  for (const LinkBill& l : links) sum += l.gbits_per_s * static_cast<double>(l.switch_ports);
  return sum;
}

Bill BillOf(const Topology& topology, const proto::NodePower& node) {
  Bill bill;
  bill.devices = topology.devices();
  const auto up = [](int64_t n, int64_t by) { return by > 0 ? (n + by - 1) / by : n; };
  bill.nodes = up(bill.devices, node.devices());
  bill.racks = up(bill.nodes, node.nodes_per_rack());
  Links links;
  const std::vector<TopologyDimension>& dimensions = topology.dimensions();
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const TopologyDimension& dimension = dimensions[d];
    if (dimension.kind == TopologyDimension::Kind::kNetwork) {
      AddNetwork(dimension.network->graph, topology.NetworkCopies(static_cast<int>(d)), &links);
      continue;
    }
    const bool fast = dimension.bandwidth.bytes_per_second() > kFastestCard;
    const bool inside = d == 0 && (dimensions.size() > 1 || dimension.size <= node.devices() || fast);
    if (!inside && dimension.size > 1) AddDimension(topology, dimension, &links);
  }
  for (const auto& [gbits, of] : links) bill.links.push_back(of);
  return bill;
}

Places PlacesOf(const std::vector<int>& device_of, size_t ranks, const proto::NodePower& node) {
  const int of_node = std::max(1, node.devices()), of_rack = of_node * std::max(1, node.nodes_per_rack());
  Places places;
  std::map<int, uint32_t> nodes, racks;
  const auto device = [&](size_t r) { return device_of.empty() ? static_cast<int>(r) : device_of[r]; };
  for (size_t r = 0; r < ranks; ++r) {
    nodes[device(r) / of_node] = 0;
    racks[device(r) / of_rack] = 0;
  }
  for (auto& [number, place] : nodes) place = places.nodes++;
  for (auto& [number, place] : racks) place = places.racks++;
  for (size_t r = 0; r < ranks; ++r) {
    places.node.push_back(nodes[device(r) / of_node]);
    places.rack.push_back(racks[device(r) / of_rack]);
  }
  return places;
}

}  // namespace chakra::energy
