// Definitions of PacketSim and all its components. A file that includes this instantiates them, so one
// translation unit has the whole loop.
#pragma once

#include <numeric>

#include "absl/strings/str_cat.h"
#include "backends/packet/ends/ends_impl.h"
#include "backends/packet/parts/deadlock.h"
#include "backends/packet/parts/sim.h"
#include "backends/packet/parts/windows_impl.h"
#include "backends/packet/ports/ports_impl.h"

namespace chakra::packet {

template <typename Events>
PacketSim<Events>::PacketSim(PacketNetwork* network, const PacketOptions& options, bool lossy, int threads)
    : network_(*network),
      options_(options),
      ways_(network, options),
      first_(network, &pool_, &ways_.paths(), options, lossy, 0, &ends_, &large_),
      ends_(network, &pool_, &ways_, options, lossy, &first_.event_loop(), &first_.ports()),
      windows_(network, &pool_, &first_, &ends_.messages().told(), threads, &large_, [&](uint32_t part) {
        return std::make_unique<Shard<Events>>(network, &pool_, &ways_.paths(), options, lossy, part, &ends_,
                                               &large_);
      }) {
  // Shards of switches read the table of paths, so they must not run while it moves.
  ways_.paths().set_before_move([this] { Settle(); });
}

template <typename Events>
std::string PacketSim<Events>::WhyStuck() const {
  std::vector<uint32_t> all(network_.ports());
  std::iota(all.begin(), all.end(), 0);
  return WhyStuck(all);
}

template <typename Events>
std::string PacketSim<Events>::WhyStuck(const std::vector<uint32_t>& ports) const {
  if (open_messages() == 0) return "";
  std::string deadlock = FindDeadlock(network_, pool_, ways_.paths(), ports, options_.classes);
  if (!deadlock.empty()) return deadlock;
  const std::vector<uint32_t>& cut_off = ends_.senders().cut_off();
  if (!cut_off.empty()) {
    const Connection& c = connection(cut_off.front());
    return absl::StrCat(cut_off.size(), " connections have no path, the first from device ", c.src, " to ",
                        c.dst);
  }
  return absl::StrCat(open_messages(), " messages are not delivered");
}

template <typename Events>
void PacketSim<Events>::LeaveBuffers(const std::vector<uint32_t>& ports) {
  Settle();
  for (const uint32_t i : ports) {
    Node& node = network_.node(network_.port(i).node);
    if (!node.is_switch) continue;
    for (uint32_t c = 0; c < static_cast<uint32_t>(options_.classes); ++c) {
      for (uint32_t k = network_.queue(i, c).head; k != kNoIndex; k = pool_[k].next) {
        // A packet at its first port was never counted.
        if (pool_[k].hop > 0) node.buffered -= pool_[k].bytes;
      }
    }
  }
}

}  // namespace chakra::packet
