#include "backends/topology/topology.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/topology/paths/shortest_paths.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

using Kind = TopologyDimension::Kind;

// The number of directed links for each device in a dimension that is not a network. A switch has two: one to
// and one from the switch.
uint64_t LinksPerDevice(const TopologyDimension& d) {
  if (d.size < 2) return 0;
  return d.kind == Kind::kFullyConnected ? static_cast<uint64_t>(d.size - 1) : 2;
}

absl::Status Check(const TopologyDimension& d, size_t index) {
  const std::string subject = absl::StrCat("topology dimension ", index, " (\"", d.name, "\"): ");
  if (d.size < 1)
    return absl::InvalidArgumentError(absl::StrCat(subject, "size ", d.size, "; expected >= 1"));
  if (d.kind == Kind::kNetwork) return absl::OkStatus();
  if (d.bandwidth.bytes_per_second() < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(subject, "bandwidth ", d.bandwidth.bytes_per_second(), " B/s; expected >= 1 B/s"));
  }
  if (d.latency < Time::Zero() || d.latency > Topology::kMaxLatency) {
    return absl::InvalidArgumentError(
        absl::StrCat(subject, "latency ", d.latency.picos(), " ps; expected 0 to 1 s"));
  }
  return absl::OkStatus();
}

// Sets the bandwidth to that of a device's widest port, the minimum over the devices: a message uses one port
// unless it is split over NVSwitches. Sets the latency to half of that of the path between the first and the
// last device. `blocks`: the network joins blocks of other dimensions, so its NVSwitches carry nothing.
void Describe(const NetworkGraph& g, bool blocks, TopologyDimension* d) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (uint32_t v = 0; v < g.devices(); ++v) {
    int64_t most = 0, striped = 0;
    for (uint32_t arc = g.begin(v); arc < g.end(v); ++arc) {
      const int64_t rate = g.link_class(arc).bandwidth.bytes_per_second();
      if (g.kind(g.target(arc)) == VertexKind::kNvSwitch) {
        striped += rate;
      } else {
        most = std::max(most, rate);
      }
    }
    least = std::min(least, blocks && most > 0 ? most : std::max(most, striped));
  }
  d->bandwidth = Bandwidth::BytesPerSecond(least);
  const Guide* guide = d->network->guide.get();
  ShortestPaths paths(g);
  std::vector<uint32_t> arcs;
  Time latency;
  const uint32_t last = g.devices() - 1;
  for (uint32_t at = 0; at != last; at = g.target(arcs.front())) {
    arcs.clear();
    guide != nullptr ? guide->Next(at, last, &arcs) : paths.Next(at, last, &arcs);
    if (arcs.empty()) break;
    latency += g.link_class(arcs.front()).latency;
  }
  d->latency = Time::Picos(latency.picos() / 2);
}

absl::Status CheckNetwork(const TopologyDimension& d, size_t index, int64_t below) {
  const std::string subject = absl::StrCat("topology dimension ", index, " (\"", d.name, "\"): ");
  if (d.network == nullptr) return absl::InvalidArgumentError(absl::StrCat(subject, "no network"));
  const int64_t holds = d.size * (d.each_rail ? 1 : below);
  if (d.network->graph.devices() != holds) {
    return absl::InvalidArgumentError(absl::StrCat(subject, "the network holds ", d.network->graph.devices(),
                                                   " devices; expected ", holds));
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view Name(TopologyDimension::Kind kind) {
  switch (kind) {
    case Kind::kRing:
      return "ring";
    case Kind::kFullyConnected:
      return "fully_connected";
    case Kind::kSwitch:
      return "switch";
    case Kind::kNetwork:
      return "network";
  }
  return "unknown";
}

absl::StatusOr<Topology> Topology::Make(std::vector<TopologyDimension> dimensions) {
  if (dimensions.empty() || dimensions.size() > kMaxDimensions) {
    return absl::InvalidArgumentError(
        absl::StrCat("topology: ", dimensions.size(), " dimensions; expected 1 to ", kMaxDimensions));
  }
  Topology t;
  int64_t devices = 1;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    RETURN_IF_ERROR(Check(dimensions[i], i));
    t.stride_.push_back(static_cast<int>(devices));
    devices *= dimensions[i].size;
    if (devices > kMaxDevices) {
      return absl::InvalidArgumentError(
          absl::StrCat("topology: more than ", kMaxDevices, " devices up to dimension ", i));
    }
  }
  t.devices_ = static_cast<int>(devices);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    TopologyDimension& d = dimensions[i];
    t.link_base_.push_back(t.links_);
    t.class_base_.push_back(static_cast<uint16_t>(t.link_classes_.size()));
    if (d.kind == Kind::kNetwork) {
      RETURN_IF_ERROR(CheckNetwork(d, i, t.stride_[i]));
      Describe(d.network->graph, i > 0, &d);
      t.has_network_ = true;
      const std::vector<LinkClass>& classes = d.network->graph.classes();
      t.link_classes_.insert(t.link_classes_.end(), classes.begin(), classes.end());
      t.links_ +=
          uint64_t{d.network->graph.arcs()} * static_cast<uint64_t>(devices) / d.network->graph.devices();
    } else {
      t.link_classes_.push_back({d.name, d.bandwidth, d.latency});
      t.links_ += LinksPerDevice(d) * static_cast<uint64_t>(devices);
    }
    if (t.link_classes_.size() > 0xffff) {
      return absl::InvalidArgumentError("topology: more than 65535 classes of links");
    }
    if (t.links_ > kMaxLinks) {
      return absl::InvalidArgumentError(
          absl::StrCat("topology: more than ", kMaxLinks, " links up to dimension ", i));
    }
  }
  t.coordinate_.reserve(static_cast<size_t>(devices) * dimensions.size());
  for (int64_t device = 0; device < devices; ++device) {
    for (size_t i = 0; i < dimensions.size(); ++i) {
      t.coordinate_.push_back(static_cast<int32_t>(device / t.stride_[i] % dimensions[i].size));
    }
  }
  t.dimensions_ = std::move(dimensions);
  return t;
}

uint32_t Topology::NetworkCopy(int dim, int device) const {
  const auto i = static_cast<size_t>(dim);
  const TopologyDimension& d = dimensions_[i];
  const int block = stride_[i] * d.size;  // number of devices that the dimension joins
  if (!d.each_rail) return static_cast<uint32_t>(device / block);
  return static_cast<uint32_t>(device / block * stride_[i] + device % stride_[i]);
}

uint32_t Topology::NetworkDevice(int dim, int device) const {
  const auto i = static_cast<size_t>(dim);
  const int within = device % (stride_[i] * dimensions_[i].size);
  return static_cast<uint32_t>(dimensions_[i].each_rail ? within / stride_[i] : within);
}

int Topology::DeviceAt(int dim, uint32_t copy, uint32_t network_device) const {
  const auto i = static_cast<size_t>(dim);
  const int stride = stride_[i], block = stride * dimensions_[i].size;
  const int c = static_cast<int>(copy), n = static_cast<int>(network_device);
  return dimensions_[i].each_rail ? c / stride * block + n * stride + c % stride : c * block + n;
}

uint32_t Topology::NetworkCopies(int dim) const {
  return static_cast<uint32_t>(devices_) / dimensions_[static_cast<size_t>(dim)].network->graph.devices();
}

Hop Topology::NetworkHop(int dim, uint32_t copy, uint32_t arc) const {
  const auto i = static_cast<size_t>(dim);
  const NetworkGraph& g = dimensions_[i].network->graph;
  return Hop{static_cast<uint32_t>(link_base_[i] + uint64_t{copy} * g.arcs() + arc),
             static_cast<uint16_t>(dim), static_cast<uint16_t>(class_base_[i] + g.class_of(arc))};
}

size_t Topology::DimensionOf(uint32_t link) const {
  size_t i = dimensions_.size() - 1;
  while (link_base_[i] > link) --i;
  return i;
}

int Topology::ClassDimension(size_t link_class) const {
  size_t i = dimensions_.size() - 1;
  while (class_base_[i] > link_class) --i;
  return static_cast<int>(i);
}

Topology::NetworkPlace Topology::NetworkArc(uint32_t link) const {
  const size_t i = DimensionOf(link);
  const uint64_t within = link - link_base_[i];
  const uint32_t arcs = dimensions_[i].network->graph.arcs();
  return {static_cast<int>(i), static_cast<uint32_t>(within / arcs), static_cast<uint32_t>(within % arcs)};
}

Hop Topology::LinkHop(uint32_t link) const {
  const size_t i = DimensionOf(link);
  if (dimensions_[i].kind != Kind::kNetwork) return {link, static_cast<uint16_t>(i), class_base_[i]};
  const NetworkPlace place = NetworkArc(link);
  return NetworkHop(place.dimension, place.copy, place.arc);
}

Topology::Ends Topology::LinkEnds(uint32_t link) const {
  const size_t i = DimensionOf(link);
  const auto dim = static_cast<int>(i);
  const TopologyDimension& d = dimensions_[i];
  if (d.kind == Kind::kNetwork) {
    const NetworkPlace place = NetworkArc(link);
    const NetworkGraph& g = d.network->graph;
    // Each dimension has 2^40 numbers; the copies of a network follow each other.
    const auto end = [&](uint32_t v) {
      if (v < g.devices()) return static_cast<uint64_t>(DeviceAt(dim, place.copy, v));
      return (uint64_t{i} + 1) << 40 | (uint64_t{place.copy} * g.vertices() + v);
    };
    return {end(g.source(place.arc)), end(g.target(place.arc))};
  }
  const uint64_t within = link - link_base_[i], each = LinksPerDevice(d);
  const auto device = static_cast<int>(within / each), which = static_cast<int>(within % each);
  const int here = Coordinate(device, dim);
  const auto at = [&](int coordinate) { return static_cast<uint64_t>(Moved(device, dim, coordinate)); };
  const auto self = static_cast<uint64_t>(device);
  if (d.kind == Kind::kRing)
    return {self, at(which == 0 ? (here + 1) % d.size : (here + d.size - 1) % d.size)};
  if (d.kind == Kind::kFullyConnected) return {self, at(which < here ? which : which + 1)};
  const uint64_t hub = static_cast<uint64_t>(devices_) * (i + 1) + at(0);
  return which == 0 ? Ends{self, hub} : Ends{hub, self};
}

std::string Topology::LinkName(uint32_t link) const {
  const size_t i = DimensionOf(link);
  const TopologyDimension& d = dimensions_[i];
  const uint64_t within = link - link_base_[i];
  if (d.kind == Kind::kNetwork) {
    const NetworkGraph& g = d.network->graph;
    const auto copy = static_cast<uint32_t>(within / g.arcs());
    const std::string which = NetworkCopies(static_cast<int>(i)) > 1 ? absl::StrCat(" (", copy, ")") : "";
    return absl::StrCat(g.ArcName(static_cast<uint32_t>(within % g.arcs())), " of ", d.name, which);
  }
  const uint64_t each = LinksPerDevice(d);
  const auto device = static_cast<int>(within / each);
  const int here = Coordinate(device, static_cast<int>(i));
  const auto which = static_cast<int>(within % each);
  const auto to = [&](int coordinate) {
    return absl::StrCat("device ", Moved(device, static_cast<int>(i), coordinate));
  };
  const std::string self = absl::StrCat("device ", device);
  switch (d.kind) {
    case Kind::kRing:
      return absl::StrCat(self, " - ", to(which == 0 ? (here + 1) % d.size : (here + d.size - 1) % d.size),
                          " of ", d.name);
    case Kind::kFullyConnected:
      return absl::StrCat(self, " - ", to(which < here ? which : which + 1), " of ", d.name);
    case Kind::kSwitch:
    case Kind::kNetwork:
      break;
  }
  return which == 0 ? absl::StrCat(self, " - switch of ", d.name)
                    : absl::StrCat("switch - ", self, " of ", d.name);
}

int Topology::LinksWithin(int dim, int a, int b) const {
  if (a == b) return 0;
  const TopologyDimension& d = dimensions_[static_cast<size_t>(dim)];
  if (d.kind == Kind::kFullyConnected) return 1;
  if (d.kind != Kind::kRing) return 2;
  const int up = b > a ? b - a : b - a + d.size;
  return std::min(up, d.size - up);
}

int Topology::SwitchBetween(int a, int b) const {
  if (a < 0 || b < 0 || a >= devices_ || b >= devices_) return -1;
  int found = -1;
  for (size_t dim = 0; dim < dimensions_.size(); ++dim) {
    const int here = Coordinate(a, static_cast<int>(dim));
    if (here == Coordinate(b, static_cast<int>(dim))) continue;
    if (found >= 0 || dimensions_[dim].kind != Kind::kSwitch) return -1;
    found = devices_ * (1 + static_cast<int>(dim)) + a - here * stride_[dim];
  }
  return found;
}

// The path between a device and a switch, which is one link.
bool Topology::SwitchHop(PathCursor* cursor, Hop* hop) const {
  if (cursor->at == cursor->dst) return false;
  const bool up = IsSwitch(cursor->dst);
  const auto dim = static_cast<size_t>(SwitchDimension(up ? cursor->dst : cursor->at));
  const auto device = static_cast<uint64_t>(up ? cursor->at : cursor->dst);
  *hop = Hop{static_cast<uint32_t>(link_base_[dim] + 2 * device + (up ? 0 : 1)), static_cast<uint16_t>(dim),
             class_base_[dim]};
  cursor->at = cursor->dst;
  return true;
}

bool Topology::NextHop(PathCursor* cursor, Hop* hop) const {
  if (IsSwitch(cursor->at) || IsSwitch(cursor->dst)) return SwitchHop(cursor, hop);
  int here = 0, there = 0;
  for (;; ++cursor->dimension) {
    if (cursor->dimension == dimensions_.size()) return false;
    here = Coordinate(cursor->at, cursor->dimension);
    there = Coordinate(cursor->dst, cursor->dimension);
    if (here != there) break;
  }
  const size_t dim = cursor->dimension;
  const TopologyDimension& d = dimensions_[dim];
  const int stride = stride_[dim];
  const auto link = [&](int device, uint64_t which) {
    const uint64_t n = link_base_[dim] + static_cast<uint64_t>(device) * LinksPerDevice(d) + which;
    *hop = Hop{static_cast<uint32_t>(n), static_cast<uint16_t>(dim), class_base_[dim]};
  };
  switch (d.kind) {
    case Kind::kRing: {
      const int up = there > here ? there - here : there - here + d.size;
      const bool upwards = up <= d.size - up;
      link(cursor->at, upwards ? 0 : 1);
      const int next = upwards ? (here + 1 == d.size ? 0 : here + 1) : (here == 0 ? d.size - 1 : here - 1);
      cursor->at += (next - here) * stride;
      return true;
    }
    case Kind::kFullyConnected:
      link(cursor->at, static_cast<uint64_t>(there < here ? there : there - 1));
      break;
    case Kind::kSwitch:
      if (!cursor->at_switch) {
        link(cursor->at, 0);
        cursor->at_switch = true;
        return true;
      }
      cursor->at_switch = false;
      link(cursor->at + (there - here) * stride, 1);
      break;
    case Kind::kNetwork:
      return false;
  }
  cursor->at += (there - here) * stride;
  return true;
}

void Topology::Path(int src, int dst, std::vector<Hop>* path) const {
  PathCursor cursor{src, dst};
  Hop hop;
  while (NextHop(&cursor, &hop)) path->push_back(hop);
}

}  // namespace chakra
