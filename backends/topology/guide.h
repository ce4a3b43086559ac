// Guides: minimal routing by formula.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/topology/graph.h"

namespace chakra {

// Gives the next links of minimal routing at every vertex, from a message's position and destination alone.
// Immutable; thread-safe.
class Guide {
 public:
  virtual ~Guide() = default;
  // Appends to `arcs` the arcs out of `at` that a message to `to` may take, in a fixed order. Following any
  // of these arcs at each vertex leads to `to` after finitely many arcs. Appends nothing if at == to or if
  // there is no path. `to` is a device, or a vertex that messages pass through and that is linked to a device
  // (an edge switch; in a torus, any device).
  virtual void Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) const = 0;
};

}  // namespace chakra
