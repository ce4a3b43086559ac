#include "backends/topology/size.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/topology/measure.h"

namespace chakra {
namespace {

bool IsSwitchKind(VertexKind kind) { return kind == VertexKind::kSwitch || kind == VertexKind::kNvSwitch; }

// The kind of each vertex; a table, because NetworkGraph::kind() does a search.
std::vector<VertexKind> KindsOf(const NetworkGraph& g) {
  std::vector<VertexKind> kinds(g.vertices());
  for (const VertexGroup& group : g.groups()) {
    std::fill_n(kinds.begin() + static_cast<std::ptrdiff_t>(group.first), group.count, group.kind);
  }
  return kinds;
}

double RateOf(const NetworkGraph& g, uint32_t arc) {
  return static_cast<double>(g.link_class(arc).bandwidth.bytes_per_second());
}

class Ports {
 public:
  explicit Ports(const NetworkGraph& graph) : g_(graph), kinds_(KindsOf(graph)) {}

  // Calls `each` with every port of a device (an arc out of the device or out of its NIC), and the device's
  // share of the port.
  template <typename Each>
  void ForEach(uint32_t device, const Each& each) const {
    bool only_nvlink = true;
    for (uint32_t arc = g_.begin(device); arc < g_.end(device); ++arc)
      only_nvlink = only_nvlink && kinds_[g_.target(arc)] == VertexKind::kNvSwitch;
    for (uint32_t arc = g_.begin(device); arc < g_.end(device); ++arc) {
      const uint32_t to = g_.target(arc);
      if (kinds_[to] == VertexKind::kNvSwitch && !only_nvlink) continue;
      if (kinds_[to] != VertexKind::kNic) {
        each(arc, 1.0);
        continue;
      }
      uint32_t sharers = 0;
      for (uint32_t of = g_.begin(to); of < g_.end(to); ++of) sharers += IsDevice(g_.target(of)) ? 1 : 0;
      for (uint32_t of = g_.begin(to); of < g_.end(to); ++of) {
        if (!IsDevice(g_.target(of))) each(of, 1.0 / sharers);
      }
    }
  }

  double Injection(uint32_t device, int* ports) const {
    double sum = 0, cards = 0;
    ForEach(device, [&](uint32_t arc, double share) {
      sum += RateOf(g_, arc) * share;
      ++*ports;
    });
    for (uint32_t arc = g_.begin(device); arc < g_.end(device); ++arc) {
      if (kinds_[g_.target(arc)] == VertexKind::kNic) cards += RateOf(g_, arc);
    }
    return cards > 0 ? std::min(sum, cards) : sum;
  }

  const std::vector<VertexKind>& kinds() const { return kinds_; }

 private:
  bool IsDevice(uint32_t v) const { return v < g_.devices(); }

  const NetworkGraph& g_;
  std::vector<VertexKind> kinds_;
};

// The minimum injection over the devices; `of_device` receives the number of ports of that device.
double LeastInjection(const Ports& ports, uint32_t devices, int* of_device) {
  double least = std::numeric_limits<double>::infinity();
  for (uint32_t v = 0; v < devices; ++v) {
    int count = 0;
    const double injection = ports.Injection(v, &count);
    if (injection >= least) continue;
    least = injection;
    *of_device = count;
  }
  return least;
}

}  // namespace

NetworkSize& NetworkSize::operator*=(uint64_t copies) {
  switches *= copies;
  cables *= copies;
  cable_bytes_per_s *= static_cast<double>(copies);
  switch_ports *= copies;
  return *this;
}

NetworkSize SizeOf(const NetworkGraph& g, bool nvswitches) {
  NetworkSize size;
  const Ports ports(g);
  size.injection = Bandwidth::BytesPerSecond(std::llround(LeastInjection(ports, g.devices(), &size.ports)));
  const std::vector<VertexKind>& kinds = ports.kinds();
  for (uint32_t v = 0; v < g.vertices(); ++v) {
    if (!IsSwitchKind(kinds[v]) || (kinds[v] == VertexKind::kNvSwitch && !nvswitches)) continue;
    ++size.switches;
    size.switch_ports += g.degree(v);
  }
  for (uint32_t arc = 0; arc < g.arcs(); ++arc) {
    const uint32_t other = g.reverse(arc);
    if (arc > other) continue;
    const VertexKind from = kinds[g.source(arc)], to = kinds[g.target(arc)];
    if (!nvswitches && (from == VertexKind::kNvSwitch || to == VertexKind::kNvSwitch)) continue;
    const bool inside = (from == VertexKind::kDevice && to == VertexKind::kNic) ||
                        (from == VertexKind::kNic && to == VertexKind::kDevice);
    if (inside) continue;
    ++size.cables;
    size.cable_bytes_per_s += RateOf(g, arc);
  }
  return size;
}

absl::StatusOr<NetworkGraph> WithInjection(const NetworkGraph& g, Bandwidth injection) {
  const Ports ports(g);
  int unused = 0;
  const double now = LeastInjection(ports, g.devices(), &unused);
  std::vector<bool> scaled(g.arcs());
  for (uint32_t v = 0; v < g.devices(); ++v) {
    ports.ForEach(v, [&](uint32_t arc, double) { scaled[arc] = scaled[g.reverse(arc)] = true; });
  }
  const double factor = static_cast<double>(injection.bytes_per_second()) / now;
  for (uint32_t arc = 0; arc < g.arcs(); ++arc) {
    if (scaled[arc] && RateOf(g, arc) * factor < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("injection leaves less than 1 B/s for ", g.ArcName(arc), "; expected more"));
    }
  }
  return g.ScaledWhere(scaled, factor);
}

SharedLinks SharedLinksOf(const NetworkGraph& g) {
  SharedLinks out;
  if (g.devices_forward() && g.devices() > 2) out.any = true;
  const std::vector<VertexKind> kinds = KindsOf(g);
  for (uint32_t arc = 0; arc < g.arcs() && !out.any; ++arc) {
    const uint32_t from = g.source(arc), to = g.target(arc);
    if (from < g.devices() || to < g.devices()) continue;
    uint32_t devices = 0;
    const auto count = [&](uint32_t v) {
      for (uint32_t of = g.begin(v); of < g.end(v); ++of) devices += g.target(of) < g.devices() ? 1 : 0;
    };
    if (kinds[from] == VertexKind::kNic) count(from);
    if (kinds[to] == VertexKind::kNic) count(to);
    out.any = devices != 1;  // the links of a NIC with one device are the device's ports
  }
  if (!out.any) return out;
  for (const GroupFigures& group : MeasureGroups(g)) {
    if (!IsSwitchKind(group.kind) || group.most_ratio <= out.ratio) continue;
    out.ratio = group.most_ratio;
    out.where = group.name;
  }
  return out;
}

int EqualPorts(const NetworkGraph& g, bool nvswitches) {
  if (g.devices_forward()) return 1;
  const std::vector<VertexKind> kinds = KindsOf(g);
  int most = 1;
  for (uint32_t v = 0; v < g.devices(); ++v) {
    int equal = 0;
    for (uint32_t arc = g.begin(v); arc < g.end(v); ++arc) {
      equal += kinds[g.target(arc)] == (nvswitches ? VertexKind::kNvSwitch : VertexKind::kSwitch) ? 1 : 0;
    }
    most = std::max(most, equal);
  }
  return most;
}

std::optional<SwitchedBlocks> SwitchedBlocksOf(const NetworkGraph& g) {
  const std::vector<VertexKind> kinds = KindsOf(g);
  // By device: the first device of its block, and the bandwidth of its links to NVSwitches.
  std::vector<uint32_t> first(g.devices(), NetworkGraph::kNone);
  std::vector<int64_t> bandwidth(g.devices());
  SwitchedBlocks blocks;
  uint64_t size = 0;
  for (uint32_t s = g.devices(); s < g.vertices(); ++s) {
    if (kinds[s] != VertexKind::kNvSwitch) continue;
    std::set<uint32_t> joined;
    for (uint32_t arc = g.begin(s); arc < g.end(s); ++arc) {
      const uint32_t device = g.target(arc);
      if (device >= g.devices()) return std::nullopt;
      joined.insert(device);
      bandwidth[device] += g.link_class(arc).bandwidth.bytes_per_second();
      blocks.latency = std::max(blocks.latency, g.link_class(arc).latency);
    }
    if (joined.empty()) continue;
    if (size == 0) size = joined.size();
    const uint32_t begin = *joined.begin();
    if (joined.size() != size || begin % size != 0 || *joined.rbegin() != begin + size - 1)
      return std::nullopt;
    for (const uint32_t device : joined) {
      if (first[device] != NetworkGraph::kNone && first[device] != begin) return std::nullopt;
      first[device] = begin;
    }
  }
  for (uint32_t v = 0; v < g.devices(); ++v) {
    if (first[v] == NetworkGraph::kNone || bandwidth[v] != bandwidth[0]) return std::nullopt;
  }
  blocks.size = static_cast<int>(size);
  blocks.bandwidth = Bandwidth::BytesPerSecond(bandwidth[0]);
  return blocks;
}

}  // namespace chakra
