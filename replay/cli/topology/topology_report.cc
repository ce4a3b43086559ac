#include "replay/cli/topology/topology_report.h"

#include "backends/topology/size.h"
#include "trace/base/utf8.h"

namespace chakra::cli {
namespace {

void AddGroups(const NetworkFigures& figures, proto::TopologyReport* out) {
  for (const GroupFigures& g : figures.groups) {
    proto::VertexGroupReport* r = out->add_group();
    r->set_name(ToUtf8(g.name));
    r->set_kind(std::string(Name(g.kind)));
    r->set_tier(g.tier);
    r->set_count(g.count);
    for (const int size : g.shape) r->add_shape(size);
    r->set_least_degree(g.least_degree);
    r->set_most_degree(g.most_degree);
    r->set_down_bytes_per_s(g.down);
    r->set_up_bytes_per_s(g.up);
    r->set_least_oversubscription(g.least_ratio);
    r->set_most_oversubscription(g.most_ratio);
  }
  for (const ClassFigures& c : figures.classes) {
    proto::LinkClassReport* r = out->add_link_class();
    r->set_name(ToUtf8(c.link_class.name));
    r->set_bandwidth_bytes_per_s(c.link_class.bandwidth.bytes_per_second());
    r->set_latency_ps(c.link_class.latency.picos());
    r->set_links(c.links);
  }
}

}  // namespace

proto::TopologyReport ReportTopology(const TopologyInput& input, const NetworkFigures& figures) {
  const NetworkGraph& graph = input.network.graph;
  proto::TopologyReport out;
  out.set_topology(ToUtf8(input.title));
  out.set_description(ToUtf8(input.network.note));
  for (const std::string& note : input.notes) out.add_note(ToUtf8(note));
  out.set_devices(graph.devices());
  out.set_vertices(graph.vertices());
  out.set_links(figures.links);
  out.set_devices_forward(graph.devices_forward());
  const NetworkSize size = SizeOf(graph);
  if (input.dimensions.empty()) {
    out.set_injection_bytes_per_s(static_cast<double>(size.injection.bytes_per_second()));
    out.set_ports(size.ports);
  }
  out.set_switch_ports(size.switch_ports);
  AddGroups(figures, &out);
  for (const TopologyDimension& d : input.dimensions) {
    proto::TopologyDimensionReport* r = out.add_dimension();
    r->set_name(ToUtf8(d.name));
    r->set_kind(std::string(Name(d.kind)));
    r->set_size(d.size);
    r->set_bandwidth_bytes_per_s(d.bandwidth.bytes_per_second());
    r->set_latency_ps(d.latency.picos());
  }
  out.set_diameter(figures.distances.diameter);
  out.set_average_distance(figures.distances.average);
  out.set_searched_devices(figures.distances.devices);
  out.set_distances_exact(figures.distances.exact);
  out.set_unreachable_pairs(figures.distances.unreachable);
  for (const Halving& h : figures.halvings) {
    proto::HalvingReport* r = out.add_halving();
    r->set_name(ToUtf8(h.name));
    r->set_bandwidth_bytes_per_s(h.bandwidth);
    r->set_share(h.share);
  }
  if (!figures.halvings.empty()) {
    out.set_bisection_bytes_per_s(figures.halvings[0].bandwidth);
    out.set_bisection_share(figures.halvings[0].share);
  }
  out.set_halvings_left_out(figures.left_out);
  out.set_memory_bytes(figures.memory_bytes);
  return out;
}

}  // namespace chakra::cli
