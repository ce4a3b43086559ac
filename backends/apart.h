// What happens on links that nothing else uses may be simulated apart, and counted.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/fabric.h"
#include "backends/topology/topology.h"

namespace chakra {

// A fabric may derive from ApartFabrics, if flows that share no link do not change each other's times.
class ApartFabrics {
 public:
  virtual ~ApartFabrics() = default;

  // Another fabric over the same topology, with the same options, that is idle and has carried nothing. Null:
  // this one is asked for what must be simulated in one place, such as faults or series of links.
  virtual std::unique_ptr<Fabric> MakeApart() const = 0;
  // From now on `link` and `like` are one link, which carries what either would. Both have one bandwidth and
  // one latency, and nothing went over `link`.
  virtual void Unite(const Hop& link, const Hop& like) = 0;
  // Appends the links of a flow from src to dst. False: another flow between the
  // two may take other links of some networks.
  virtual bool LinksBetween(int src, int dst, std::vector<Hop>* links) = 0;
  // The highest rate of each link, in bytes a picosecond, by the topology's number.
  virtual std::vector<double> Peaks() const = 0;
  // Counts `times` flows from src to dst, of `bytes` that take `wire_bytes`, in reports. They went as the
  // flows from like_src to like_dst did on a fabric apart, whose links had `peaks`. Precondition:
  // LinksBetween() is true for both pairs, and gives as many links.
  virtual void CountApart(int src, int dst, uint64_t bytes, uint64_t wire_bytes, uint64_t times, int like_src,
                          int like_dst, const std::vector<double>& peaks) = 0;
};

}  // namespace chakra
