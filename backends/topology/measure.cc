#include "backends/topology/measure.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace chakra {

std::string FormatRate(double bytes_per_second) {
  static constexpr const char* kUnits[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", "Pb/s", "Eb/s"};
  double bits = bytes_per_second * 8;
  size_t unit = 0;
  while (bits >= 999.95 && unit + 1 < std::size(kUnits)) {
    bits /= 1000;
    ++unit;
  }
  return absl::StrFormat("%.4g %s", bits, kUnits[unit]);
}

std::vector<GroupFigures> MeasureGroups(const NetworkGraph& graph) {
  std::vector<int> tier(graph.vertices(), 0);
  for (const VertexGroup& g : graph.groups()) {
    std::fill(tier.begin() + g.first, tier.begin() + g.first + g.count, g.tier);
  }
  std::vector<GroupFigures> out;
  for (const VertexGroup& g : graph.groups()) {
    GroupFigures f{g.name, g.kind, g.tier, g.count, g.shape, graph.degree(g.first), graph.degree(g.first)};
    for (uint32_t v = g.first; v < g.first + g.count; ++v) {
      f.least_degree = std::min(f.least_degree, graph.degree(v));
      f.most_degree = std::max(f.most_degree, graph.degree(v));
      double down = 0, up = 0;
      for (uint32_t arc = graph.begin(v); arc < graph.end(v); ++arc) {
        const auto rate = static_cast<double>(graph.link_class(arc).bandwidth.bytes_per_second());
        const int other = tier[graph.target(arc)];
        if (other < g.tier) down += rate;
        if (other > g.tier) up += rate;
      }
      f.down += down;
      f.up += up;
      if (down == 0 || up == 0) continue;
      const double ratio = down / up;
      f.least_ratio = f.least_ratio == 0 ? ratio : std::min(f.least_ratio, ratio);
      f.most_ratio = std::max(f.most_ratio, ratio);
    }
    out.push_back(std::move(f));
  }
  return out;
}

NetworkFigures Measure(const NetworkGraph& graph, const MeasureOptions& options) {
  NetworkFigures out;
  out.groups = MeasureGroups(graph);
  for (const LinkClass& c : graph.classes()) out.classes.push_back({c, 0});
  for (uint32_t arc = 0; arc < graph.arcs(); ++arc) {
    if (arc < graph.reverse(arc)) ++out.classes[graph.class_of(arc)].links;
  }
  out.links = graph.links();
  for (uint32_t d = 0; d < graph.devices(); ++d) {
    if (graph.degree(d) == 0) out.alone.push_back(d);
  }
  out.distances = MeasureDistances(graph, options);
  out.halvings = MeasureHalvings(graph, options, &out.left_out);
  out.memory_bytes = graph.MemoryBytes();
  return out;
}

}  // namespace chakra
