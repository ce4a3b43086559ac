// What a fabric tells of a run.
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
  uint64_t bytes = 0;  // payload times links crossed in this dimension
};

// A fabric that derives from FabricReport is asked for what it carried. Reports
// on other fabrics have nothing of that.
class FabricReport {
 public:
  virtual ~FabricReport() = default;

  // Counts `times` messages of `bytes` from src to dst that were not simulated.
  virtual void Account(int src, int dst, uint64_t bytes, uint64_t times) = 0;
  virtual std::vector<DimensionTraffic> Traffic() const = 0;
  // The `most` busiest links, up to the last AdvanceTo(). Nothing from a fabric
  // that does not follow links.
  virtual LinkUses Links(size_t /*most*/) const { return {}; }
  // What packets did; no transport from a fabric that sends none.
  virtual PacketTotals Packets() const { return {}; }
  // Why flows that are under way will never end, when NextEvent() is Never(); "" where nothing is known.
  virtual std::string WhyStuck() const { return ""; }
};

}  // namespace chakra
