// What was not simulated, for the report.
#pragma once

#include <cstdint>

#include "backends/link_use.h"
#include "backends/packet/network/network.h"

namespace chakra::packet {

// Of a port, in a time or an episode.
struct PortTotals : LinkCounts {  // paused of TotalsOf(): up to the last time that a pause ended
  uint64_t bytes = 0;

  bool operator==(const PortTotals&) const = default;
  PortTotals& operator+=(const PortTotals& o);
};

PortTotals TotalsOf(const PacketNetwork& network, uint32_t port);

void SetTotals(const PortTotals& totals, PacketNetwork* network, uint32_t port);

// Of each number of what packets did (not events, and not what was skipped): to += times * (after - before),
// rounded.
void AddDifference(const PortTotals& before, const PortTotals& after, double times, PortTotals* to);
void AddDifference(const PacketTotals& before, const PacketTotals& after, double times, PacketTotals* to);

}  // namespace chakra::packet
