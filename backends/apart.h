// Isolated calls, whose flows share no link with other traffic, may run on a fabric of their own. This fabric
// then only counts them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/fabric.h"
#include "backends/topology/topology.h"

namespace chakra {

// A fabric may derive from ApartFabrics if flows that share no link do not change each other's times.
class ApartFabrics {
 public:
  virtual ~ApartFabrics() = default;

  // Returns an idle fabric over the same topology with the same options, which has carried nothing yet.
  // Returns null if this fabric has options that need all flows in one fabric, such as faults or series of
  // links.
  virtual std::unique_ptr<Fabric> MakeApart() const = 0;
  // From now on `link` and `like` are one link, which carries the flows of both. Precondition: both have the
  // same bandwidth and latency, and `link` has carried nothing.
  virtual void Unite(const Hop& link, const Hop& like) = 0;
  // Appends the links of a flow from src to dst. Returns false if another flow between the two may take other
  // links, because the path crosses a network.
  virtual bool LinksBetween(int src, int dst, std::vector<Hop>* links) = 0;
  // The highest rate that each link has had, in bytes a picosecond, by the topology's number of the link.
  virtual std::vector<double> Peaks() const = 0;
  // Counts `times` flows from src to dst in reports. Each has a payload of `bytes` and puts `wire_bytes` on
  // its links. Another fabric, made by MakeApart(), simulated them as flows from like_src to like_dst, and
  // its links had `peaks`. Precondition: LinksBetween() is true for both pairs and gives the same number of
  // links for both.
  virtual void CountApart(int src, int dst, uint64_t bytes, uint64_t wire_bytes, uint64_t times, int like_src,
                          int like_dst, const std::vector<double>& peaks) = 0;
};

}  // namespace chakra
