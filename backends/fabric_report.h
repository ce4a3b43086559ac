// What a fabric reports about a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/link_use.h"

namespace chakra {

struct DimensionTraffic {
  std::string name;
  std::string kind;
  int size = 0;
  uint64_t bytes = 0;  // payload bytes times the links crossed in this dimension
};

// A fabric that derives from FabricReport reports what it carried. For other fabrics, reports leave that out.
class FabricReport {
 public:
  virtual ~FabricReport() = default;

  // Counts `times` messages of `bytes` from src to dst that the fabric did not simulate.
  virtual void Account(int src, int dst, uint64_t bytes, uint64_t times) = 0;
  virtual std::vector<DimensionTraffic> Traffic() const = 0;
  // The `most` busiest links, up to the last AdvanceTo(). Empty if the fabric does not follow links.
  virtual LinkUses Links(size_t /*most*/) const { return {}; }
  // Counts of packets; `transport` is empty if the fabric sends no packets.
  virtual PacketTotals Packets() const { return {}; }
  // Why flows that are under way will never end, when NextEvent() is Never(); "" if unknown.
  virtual std::string WhyStuck() const { return ""; }
};

}  // namespace chakra
