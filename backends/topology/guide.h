// What brings a message nearer to where it goes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/topology/graph.h"

namespace chakra {

// Knows the next links of minimal routing, at every vertex, from nothing but
// where a message is and where it goes. Immutable; safe for many threads.
class Guide {
 public:
  virtual ~Guide() = default;
  // Appends to `arcs` the arcs out of `at` that may be taken towards `to`, in a
  // fixed order; whoever follows any of them at each vertex arrives after
  // finitely many. Nothing when at == to or there is no way. `to` is a device, or a
  // vertex of NetworkGraph that messages pass through and that has a device beside it
  // (an edge switch; in a torus, any device).
  virtual void Next(uint32_t at, uint32_t to, std::vector<uint32_t>* arcs) const = 0;
};

}  // namespace chakra
