// The time of an exchange (all devices send to each other) that has an idle fabric to itself.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

// The message that a device sends to each device of one level; see Topology::Level().
struct ExchangeMessage {
  uint64_t wire_bytes = 0;  // as Flow::wire_bytes
  Time delay;               // as Flow::delay
  Bandwidth limit;          // as Flow::limit
};

struct ExchangeTime {
  Time last;              // from the start until the last message has been received
  bool together = false;  // every device receives its last message at this instant
};

// A fabric may derive from ExchangePrices if it can compute the time without making a flow for each pair.
class ExchangePrices {
 public:
  virtual ~ExchangePrices() = default;

  // Each of `devices` (all different, at least 2) sends one message to each of the others, all at the same
  // instant, as flows of service class 0. `messages` is indexed by the level of the pair. If `peaks` is not
  // null, it receives the highest rate of each link in bytes a picosecond, by the topology's number of the
  // link. Returns nullopt if the fabric is not idle, or if the flows are not symmetric and each must be
  // simulated.
  virtual std::optional<ExchangeTime> TimeOfExchange(const std::vector<int>& devices,
                                                     const std::vector<ExchangeMessage>& messages,
                                                     std::vector<double>* peaks = nullptr) const = 0;
};

}  // namespace chakra
