#include "backends/topology/topology.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"

namespace chakra {
namespace {

using Kind = TopologyDimension::Kind;

// Directed links that leave a device in one dimension (a switch's two are the
// one to it and the one from it).
uint64_t LinksPerDevice(const TopologyDimension& d) {
  if (d.size < 2) return 0;
  return d.kind == Kind::kFullyConnected ? static_cast<uint64_t>(d.size - 1) : 2;
}

absl::Status Check(const TopologyDimension& d, size_t index) {
  const std::string subject = absl::StrCat("topology dimension ", index, " (\"", d.name, "\"): ");
  if (d.size < 1)
    return absl::InvalidArgumentError(absl::StrCat(subject, "size ", d.size, "; expected >= 1"));
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

}  // namespace

absl::string_view Name(TopologyDimension::Kind kind) {
  switch (kind) {
    case Kind::kRing:
      return "ring";
    case Kind::kFullyConnected:
      return "fully_connected";
    case Kind::kSwitch:
      return "switch";
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
    if (absl::Status s = Check(dimensions[i], i); !s.ok()) return s;
    t.stride_.push_back(static_cast<int>(devices));
    devices *= dimensions[i].size;
    if (devices > kMaxDevices) {
      return absl::InvalidArgumentError(
          absl::StrCat("topology: more than ", kMaxDevices, " devices up to dimension ", i));
    }
  }
  t.devices_ = static_cast<int>(devices);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    t.link_base_.push_back(t.links_);
    t.links_ += LinksPerDevice(dimensions[i]) * static_cast<uint64_t>(devices);
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

int Topology::LinksWithin(int dim, int a, int b) const {
  if (a == b) return 0;
  const TopologyDimension& d = dimensions_[static_cast<size_t>(dim)];
  if (d.kind == Kind::kFullyConnected) return 1;
  if (d.kind == Kind::kSwitch) return 2;
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

// The one link between a device and a switch.
bool Topology::SwitchHop(PathCursor* cursor, Hop* hop) const {
  if (cursor->at == cursor->dst) return false;
  const bool up = IsSwitch(cursor->dst);
  const auto dim = static_cast<size_t>(SwitchDimension(up ? cursor->dst : cursor->at));
  const auto device = static_cast<uint64_t>(up ? cursor->at : cursor->dst);
  *hop = Hop{static_cast<uint32_t>(link_base_[dim] + 2 * device + (up ? 0 : 1)), static_cast<uint16_t>(dim)};
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
    *hop = Hop{static_cast<uint32_t>(n), static_cast<uint16_t>(dim)};
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
