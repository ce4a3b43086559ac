#include "backends/analytical/path_cost.h"

#include <string>

namespace chakra {

PathCost::PathCost(const Topology& topology, bool store_and_forward)
    : topology_(topology), store_and_forward_(store_and_forward) {
  for (const TopologyDimension& d : topology_.dimensions()) {
    dims_.push_back(Dim{d.kind, d.size, d.bandwidth, d.latency});
  }
}

FlowCost PathCost::ToSwitch(int src, int dst, uint64_t bytes) {
  const auto dim = static_cast<size_t>(topology_.Level(src, dst));
  const Time transfer = Transfer(dim, bytes);
  return {dims_[dim].latency, transfer, transfer};
}

void PathCost::Account(int src, int dst, uint64_t bytes, uint64_t times) {
  if (src != dst && (topology_.IsSwitch(src) || topology_.IsSwitch(dst))) {
    dims_[static_cast<size_t>(topology_.Level(src, dst))].carried += bytes * times;
    return;
  }
  for (size_t i = 0; i < dims_.size(); ++i) {
    const int links =
        topology_.LinksWithin(static_cast<int>(i), topology_.Coordinate(src, static_cast<int>(i)),
                              topology_.Coordinate(dst, static_cast<int>(i)));
    dims_[i].carried += bytes * times * static_cast<uint64_t>(links);
  }
}

std::vector<DimensionTraffic> PathCost::Traffic() const {
  std::vector<DimensionTraffic> traffic;
  for (size_t i = 0; i < dims_.size(); ++i) {
    const TopologyDimension& d = topology_.dimensions()[i];
    traffic.push_back({d.name, std::string(Name(d.kind)), d.size, dims_[i].carried});
  }
  return traffic;
}

}  // namespace chakra
