// Keeps the bytes of one window in flight, whatever the network reports. Ideal without contention, and a
// transport for comparisons between simulators.
#pragma once

#include <cmath>

#include "absl/status/statusor.h"
#include "backends/packet/transports/transport.h"

namespace chakra::packet {

class FixedWindow {
 public:
  struct Config {
    double bytes = 0;  // payload; 0: `bdp` times the bandwidth-delay product
    double bdp = 1;
  };
  static TransportKind Kind();
  static absl::StatusOr<Config> Read(const Parameters& parameters);

  FixedWindow(const Config& config, const PathFacts& path, Control* control) {
    // Whole packets, so that the path is always full.
    const double packets = std::ceil(config.bdp * path.Bdp() / path.wire);
    control->window = config.bytes > 0 ? config.bytes : packets * path.mtu;
  }
  void OnAck(const Ack&, Control*) {}
  void OnLoss(const Loss&, Control*) {}
  void OnTimer(Time, Control*) {}
  uint32_t PickPath(Time, uint32_t) { return 0; }
};

}  // namespace chakra::packet
