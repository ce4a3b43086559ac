#include "backends/topology/dimension_size.h"

#include <algorithm>

namespace chakra {

NetworkSize SizeOf(const Topology& topology, int dimension) {
  using Kind = TopologyDimension::Kind;
  const TopologyDimension& d = topology.dimensions()[static_cast<size_t>(dimension)];
  if (d.kind == Kind::kNetwork) {
    NetworkSize size = SizeOf(d.network->graph, dimension == 0);
    return size *= topology.NetworkCopies(dimension);
  }
  const auto devices = static_cast<uint64_t>(topology.devices());
  const auto others = static_cast<uint64_t>(d.size - 1);
  NetworkSize size;
  size.ports = d.kind == Kind::kSwitch ? 1 : d.kind == Kind::kRing ? std::min(d.size - 1, 2) : d.size - 1;
  size.injection = Bandwidth::BytesPerSecond(d.bandwidth.bytes_per_second() * std::max(size.ports, 1));
  if (others == 0) return size;
  const bool is_switch = d.kind == Kind::kSwitch;
  size.switches = is_switch ? devices / (others + 1) : 0;
  size.switch_ports = is_switch ? devices : 0;
  size.cables = is_switch ? devices : devices * static_cast<uint64_t>(size.ports) / 2;
  size.cable_bytes_per_s =
      static_cast<double>(size.cables) * static_cast<double>(d.bandwidth.bytes_per_second());
  return size;
}

}  // namespace chakra
