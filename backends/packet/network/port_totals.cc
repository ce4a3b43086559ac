#include "backends/packet/network/port_totals.h"

#include <cmath>

namespace chakra::packet {
namespace {

uint64_t Times(uint64_t by, double times) {
  return times == 1 ? by : static_cast<uint64_t>(std::llround(static_cast<double>(by) * times));
}

}  // namespace

PortTotals& PortTotals::operator+=(const PortTotals& o) {
  AddDifference(PortTotals(), o, 1, this);
  return *this;
}

PortTotals TotalsOf(const PacketNetwork& network, uint32_t port) {
  const PortInfo& info = network.info(port);
  PortTotals totals;
  totals.bytes = network.port(port).sent;
  totals.packets = network.port(port).packets;
  for (size_t k = 0; k < LinkUse::kCounts; ++k) totals.*kLinkCounts[k].total = info.*kPortCounts[k];
  totals.drops += info.cut_off;
  return totals;
}

void SetTotals(const PortTotals& totals, PacketNetwork* network, uint32_t port) {
  PortInfo& info = network->info(port);
  network->port(port).sent = totals.bytes;
  network->port(port).packets = totals.packets;
  for (size_t k = 0; k < LinkUse::kCounts; ++k) info.*kPortCounts[k] = totals.*kLinkCounts[k].total;
  info.cut_off = 0;
}

void AddDifference(const PortTotals& before, const PortTotals& after, double times, PortTotals* to) {
  to->bytes += Times(after.bytes - before.bytes, times);
  to->packets += Times(after.packets - before.packets, times);
  for (const LinkCount& count : kLinkCounts) {
    to->*count.total += Times(after.*count.total - before.*count.total, times);
  }
}

void AddDifference(const PacketTotals& before, const PacketTotals& after, double times, PacketTotals* to) {
  for (const PacketCount& count : kPacketCounts) {
    if (count.of_packets) to->*count.total += Times(after.*count.total - before.*count.total, times);
  }
}

}  // namespace chakra::packet
