// The choice of a switch among the paths that a packet may still take.
#pragma once

#include "backends/packet/network/packet.h"
#include "backends/packet/ways/path_table.h"

namespace chakra::packet {

// Sends a packet on over the port with the lowest load. Among equal ports, the packet's own port is
// preferred, then the first in the ring of alternatives. load(port): any number that can be compared.
template <typename Load>
void TakeLeastLoaded(const PathTable& paths, const Load& load, Packet* k) {
  const uint32_t hop = k->hop;
  const uint32_t own = paths[k->ports + hop];
  PathTable::Alternative other = paths.Next(k->ports, hop);
  if (paths[other.ports + hop] == own) return;
  auto least = load(own);
  PathTable::Alternative best{k->ports, k->path, k->hops};
  for (; paths[other.ports + hop] != own; other = paths.Next(other.ports, hop)) {
    const auto waits = load(paths[other.ports + hop]);
    if (waits >= least) continue;
    least = waits;
    best = other;
  }
  k->ports = best.ports;
  k->path = static_cast<uint16_t>(best.way);
  k->hops = static_cast<uint8_t>(best.hops);
}

}  // namespace chakra::packet
