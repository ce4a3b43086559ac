// Counts of one port, for reports and for traffic that was not simulated.
#pragma once

#include <cstdint>

#include "backends/link_use.h"
#include "backends/packet/network/network.h"

namespace chakra::packet {

// Counts of a port over some time or over one episode.
struct PortTotals : LinkCounts {  // `paused` from TotalsOf() only has finished pauses
  uint64_t bytes = 0;

  bool operator==(const PortTotals&) const = default;
  PortTotals& operator+=(const PortTotals& o);
};

PortTotals TotalsOf(const PacketNetwork& network, uint32_t port);

void SetTotals(const PortTotals& totals, PacketNetwork* network, uint32_t port);

// *to += times * (after - before), rounded, for each count of what packets did (not events, and not counts of
// skipping).
void AddDifference(const PortTotals& before, const PortTotals& after, double times, PortTotals* to);
void AddDifference(const PacketTotals& before, const PacketTotals& after, double times, PacketTotals* to);

}  // namespace chakra::packet
