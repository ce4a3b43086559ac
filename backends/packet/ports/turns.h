// Which class of traffic a port serves next.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "backends/packet/network/network.h"
#include "backends/packet/options.h"

namespace chakra::packet {

// Control goes first; the others take turns by deficit round robin (Shreedhar, Varghese, SIGCOMM 1995), with
// a full packet times the weight of the class for each turn. What is sent is taken off PortCredit::deficit by
// the caller, where there are several classes of data.
//
// `eligible`: classes with something that may be sent now, a bit each; at least one.
inline uint32_t NextClass(PacketNetwork* network, const PacketOptions& options, uint32_t port,
                          uint32_t eligible) {
  // As NDP's switches (Handley et al., SIGCOMM 2017): headers to packets of data where both wait.
  constexpr uint8_t kHeadersPerData = 10;
  if ((eligible & 1) != 0) {
    if (!options.trim || eligible == 1) return 0;
    // Headers alone would keep all data from a slow port.
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
