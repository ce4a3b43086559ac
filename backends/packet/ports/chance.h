// Random events of packets at a port: marks, and losses on the link.
#pragma once

#include <cstdint>

#include "backends/packet/network/network.h"
#include "backends/packet/options.h"
#include "trace/base/splitmix.h"

namespace chakra::packet {

// A number in [0, 1) that depends only on a key and a count, so that it does not depend on the order of the
// calls.
inline double Draw(uint64_t key, uint64_t count) { return ShareOf(SplitMix(key + count * kSplitMixStep)); }

// Whether a link loses its packet `number`, counted from 0. Marks of the same port use other keys.
inline bool IsLost(uint64_t seed, const PortInfo& p, uint64_t number) {
  return Draw(SplitMix(seed ^ SplitMix(~uint64_t{p.link})), number) < p.loss;
}

// Whether a port marks a packet that finds or leaves behind `queued` bytes in its queue, after the port has
// sent `number` packets.
inline bool IsMarked(const PacketOptions& options, const PortInfo& p, uint64_t queued, uint64_t number) {
  const double low = options.ecn_low.Of(p.rate), high = options.ecn_high.Of(p.rate);
  const auto q = static_cast<double>(queued);
  if (q <= low) return false;
  if (q >= high) return true;
  const double share = options.ecn_probability * (q - low) / (high - low);
  return Draw(options.seed ^ (uint64_t{p.link} << 32), number) < share;
}

}  // namespace chakra::packet
