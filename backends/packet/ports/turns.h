// The class of traffic that a port serves next.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "backends/packet/network/network.h"
#include "backends/packet/options.h"

namespace chakra::packet {

// Control comes first. The other classes take turns by deficit round robin (Shreedhar, Varghese, SIGCOMM
// 1995), with a full packet times the weight of the class for each turn. If there are several data classes,
// the caller subtracts the sent bytes from PortCredit::deficit.
//
// `eligible`: classes that have something to send now, one bit each; at least one.
inline uint32_t NextClass(PacketNetwork* network, const PacketOptions& options, uint32_t port,
                          uint32_t eligible) {
  // As in NDP's switches (Handley et al., SIGCOMM 2017): headers for each data packet while both wait.
  constexpr uint8_t kHeadersPerData = 10;
  if ((eligible & 1) != 0) {
    if (!options.trim || eligible == 1) return 0;
    // Headers alone would block all data at a slow port.
    PortInfo& info = network->info(port);
    if (++info.headers <= kHeadersPerData) return 0;
    info.headers = 0;
    eligible &= ~1u;
  }
  if ((eligible & (eligible - 1)) == 0) {
    const auto alone = static_cast<uint32_t>(std::countr_zero(eligible));
    if (options.classes > 2) network->credit(port, alone).deficit = options.Wire();
    return alone;
  }
  PortInfo& p = network->info(port);
  for (;;) {
    const uint32_t c = p.next_class;
    PortCredit& q = network->credit(port, c);
    if ((eligible >> c & 1) != 0 && q.deficit > 0) return c;
    if ((eligible >> c & 1) == 0) q.deficit = std::min<int64_t>(q.deficit, 0);
    p.next_class = static_cast<uint8_t>(c + 1 < static_cast<uint32_t>(options.classes) ? c + 1 : 1);
    const uint32_t weight = options.weights.empty() ? 1 : options.weights[p.next_class - 1];
    network->credit(port, p.next_class).deficit += int64_t{weight} * options.Wire();
  }
}

}  // namespace chakra::packet
