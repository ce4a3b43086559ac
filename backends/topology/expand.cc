#include "backends/topology/expand.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

using Kind = TopologyDimension::Kind;

uint64_t LinksOf(const TopologyDimension& d, uint64_t devices) {
  if (d.size < 2) return 0;
  if (d.kind == Kind::kFullyConnected) return devices * static_cast<uint64_t>(d.size - 1) / 2;
  return d.kind == Kind::kRing && d.size == 2 ? devices / 2 : devices;
}

// Links between accelerators go through switches of a special kind.
VertexKind SwitchKind(const std::string& dimension) {
  const bool scale_up = absl::StartsWith(dimension, "nv") || absl::StartsWith(dimension, "xgmi");
  return scale_up ? VertexKind::kNvSwitch : VertexKind::kSwitch;
}

class Expansion {
 public:
  explicit Expansion(const Topology& t) : t_(t), devices_(static_cast<uint32_t>(t.devices())) {
    std::vector<int> shape;
    size_t wide = 0;
    for (const TopologyDimension& d : t.dimensions()) {
      shape.push_back(d.size);
      wide += d.size > 1 ? 1 : 0;
      forward_ = forward_ || (d.kind == Kind::kRing && d.size > 3) ||
                 (d.kind == Kind::kNetwork && d.network->graph.devices_forward());
    }
    forward_ = forward_ || wide > 1;
    builder_.AddVertices("device", VertexKind::kDevice, devices_, 0, std::move(shape));
    builder_.set_devices_forward(forward_);
  }

  absl::StatusOr<NetworkGraph> Make() {
    uint32_t stride = 1;
    for (size_t i = 0; i < t_.dimensions().size(); ++i) {
      const TopologyDimension& d = t_.dimensions()[i];
      if (d.kind == Kind::kNetwork) {
        Copy(static_cast<int>(i));
      } else if (d.size > 1) {
        Wire(i, stride, builder_.AddClass({NameOf(i), d.bandwidth, d.latency}));
      }
      stride *= static_cast<uint32_t>(d.size);
    }
    return builder_.Build();
  }

 private:
  // A name for the dimension that differs from those before it and from the devices.
  std::string NameOf(size_t i) const {
    const std::string& name = t_.dimensions()[i].name;
    bool taken = name.empty() || name == "device";
    for (size_t j = 0; j < i; ++j) taken = taken || t_.dimensions()[j].name == name;
    return taken ? absl::StrCat("dim", i, name.empty() ? "" : "-", name) : name;
  }

  void Wire(size_t i, uint32_t stride, uint16_t link_class) {
    const TopologyDimension& d = t_.dimensions()[i];
    const auto size = static_cast<uint32_t>(d.size);
    uint32_t next_switch = 0;
    if (d.kind == Kind::kSwitch) {
      next_switch = builder_.AddVertices(absl::StrCat(NameOf(i), "_switch"), SwitchKind(d.name),
                                         devices_ / size, ++tier_);
    }
    for (uint32_t base = 0; base < devices_; ++base) {
      if (base / stride % size != 0) continue;
      for (uint32_t a = 0; a < size; ++a) {
        const uint32_t v = base + a * stride;
        if (d.kind == Kind::kSwitch) builder_.AddLink(v, next_switch, link_class);
        if (d.kind == Kind::kRing && (a + 1 < size || size > 2)) {
          builder_.AddLink(v, base + (a + 1) % size * stride, link_class);
        }
        if (d.kind != Kind::kFullyConnected) continue;
        for (uint32_t b = a + 1; b < size; ++b) builder_.AddLink(v, base + b * stride, link_class);
      }
      ++next_switch;
    }
  }

  // Adds all copies of a network. Groups and classes are named after the dimension.
  void Copy(int dim) {
    const NetworkGraph& g = t_.dimensions()[static_cast<size_t>(dim)].network->graph;
    const std::string name = NameOf(static_cast<size_t>(dim));
    const uint32_t copies = t_.NetworkCopies(dim);
    std::vector<uint32_t> first(g.vertices(), 0),
        stride(g.vertices(), 0);  // strides of the vertices other than devices
    int highest = 0;
    for (const VertexGroup& group : g.groups()) {
      if (group.kind == VertexKind::kDevice) continue;
      highest = std::max(highest, group.tier);
      const uint32_t at =
          builder_.AddVertices(absl::StrCat(name, "_", group.name), group.kind, group.count * copies,
                               tier_ + group.tier, copies == 1 ? group.shape : std::vector<int>());
      for (uint32_t i = 0; i < group.count; ++i) {
        first[group.first + i] = at + i;
        stride[group.first + i] = group.count;
      }
    }
    tier_ += highest;
    std::vector<uint16_t> classes;
    for (const LinkClass& c : g.classes()) {
      classes.push_back(builder_.AddClass({absl::StrCat(name, " ", c.name), c.bandwidth, c.latency}));
    }
    for (uint32_t copy = 0; copy < copies; ++copy) {
      const auto vertex = [&](uint32_t v) {
        return v < g.devices() ? static_cast<uint32_t>(t_.DeviceAt(dim, copy, v))
                               : first[v] + copy * stride[v];
      };
      for (uint32_t arc = 0; arc < g.arcs(); ++arc) {
        if (arc < g.reverse(arc))
          builder_.AddLink(vertex(g.source(arc)), vertex(g.target(arc)), classes[g.class_of(arc)]);
      }
    }
  }

  const Topology& t_;
  uint32_t devices_;
  int tier_ = 0;  // the highest tier so far
  bool forward_ = false;
  GraphBuilder builder_;
};

}  // namespace

absl::StatusOr<Network> ExpandTopology(const Topology& topology) {
  const std::vector<TopologyDimension>& dimensions = topology.dimensions();
  if (dimensions.size() == 1 && dimensions[0].kind == Kind::kNetwork) return *dimensions[0].network;
  uint64_t links = 0;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    links +=
        dimensions[i].kind == Kind::kNetwork
            ? uint64_t{dimensions[i].network->graph.links()} * topology.NetworkCopies(static_cast<int>(i))
            : LinksOf(dimensions[i], static_cast<uint64_t>(topology.devices()));
  }
  if (links > kMaxExpandedLinks) {
    return absl::InvalidArgumentError(absl::StrCat("topology: ", links, " links; expected at most ",
                                                   kMaxExpandedLinks,
                                                   " to be listed one by one, with fewer devices"));
  }
  ASSIGN_OR_RETURN(auto graph, Expansion(topology).Make());
  return Network{std::move(graph), nullptr, ""};
}

}  // namespace chakra
