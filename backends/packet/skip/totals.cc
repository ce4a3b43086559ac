#include "backends/packet/skip/totals.h"

#include <cmath>

namespace chakra {
namespace {

template <typename T, size_t n>
void Add(uint64_t T::*const (&fields)[n], const T& before, const T& after, double times, T* to) {
  for (const auto field : fields) {
    const uint64_t by = after.*field - before.*field;
    to->*field += times == 1 ? by : static_cast<uint64_t>(std::llround(static_cast<double>(by) * times));
  }
}

constexpr uint64_t PortTotals::*kOfPort[] = {&PortTotals::bytes,  &PortTotals::packets, &PortTotals::marks,
                                             &PortTotals::drops,  &PortTotals::lost,    &PortTotals::trims,
                                             &PortTotals::pauses, &PortTotals::paused};
// Not PacketTotals::events: they are what was done.
constexpr uint64_t PacketTotals::*kOfAll[] = {
    &PacketTotals::packets, &PacketTotals::again, &PacketTotals::acks,   &PacketTotals::drops,
    &PacketTotals::trims,   &PacketTotals::marks, &PacketTotals::pauses, &PacketTotals::timeouts,
    &PacketTotals::lost,    &PacketTotals::hops};

}  // namespace

PortTotals& PortTotals::operator+=(const PortTotals& o) {
  Add(kOfPort, PortTotals(), o, 1, this);
  return *this;
}

PortTotals TotalsOf(const PacketNetwork& network, uint32_t port) {
  const PortInfo& i = network.info(port);
  return {network.port(port).sent,
          network.port(port).packets,
          i.marks,
          i.drops + i.cut_off,
          i.lost,
          i.trims,
          i.pauses,
          i.paused};
}

void SetTotals(const PortTotals& totals, PacketNetwork* network, uint32_t port) {
  network->port(port).sent = totals.bytes;
  network->port(port).packets = totals.packets;
  PortInfo& i = network->info(port);
  i.marks = totals.marks;
  i.drops = totals.drops;
  i.cut_off = 0;
  i.lost = totals.lost;
  i.trims = totals.trims;
  i.pauses = totals.pauses;
  i.paused = totals.paused;
}

void AddDifference(const PortTotals& before, const PortTotals& after, double times, PortTotals* to) {
  Add(kOfPort, before, after, times, to);
}

void AddDifference(const PacketTotals& before, const PacketTotals& after, double times, PacketTotals* to) {
  Add(kOfAll, before, after, times, to);
}

}  // namespace chakra
