// What an exchange costs that has an idle fabric to itself.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

// A message of an exchange between two devices of a level; see Topology::Level().
struct ExchangeMessage {
  uint64_t wire_bytes = 0;  // as Flow::wire_bytes
  Time delay;               // as Flow::delay
  Bandwidth limit;          // as Flow::limit
};

struct ExchangeTime {
  Time last;              // from the begin until the last message is received
  bool together = false;  // every device receives its last message then
};

// A fabric may derive from ExchangePrices, if the fabric can answer without making a flow for each pair.
class ExchangePrices {
 public:
  virtual ~ExchangePrices() = default;

  // All `devices` (different ones, at least 2) send a message to each other at the same instant, as flows of
  // class 0. `messages`: by level. If `peaks` is not null, it gets the highest rate of each link, in bytes a
  // picosecond, by the topology's number. nullopt: the fabric is not idle, or the flows are not alike, so
  // that each must be simulated.
  virtual std::optional<ExchangeTime> TimeOfExchange(const std::vector<int>& devices,
                                                     const std::vector<ExchangeMessage>& messages,
                                                     std::vector<double>* peaks = nullptr) const = 0;
};

}  // namespace chakra
