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
};

// A fabric may derive from ExchangePrices, if the fabric can answer without making a flow for each pair.
class ExchangePrices {
 public:
  virtual ~ExchangePrices() = default;

  // All `devices` (different ones, at least 2) send a message to each other at the same instant: the time
  // from there until the last one is received, as flows of class 0 would take it. `messages`: by level.
  // nullopt: the fabric is not idle, or the flows are not alike, so that each must be simulated.
  virtual std::optional<Time> TimeOfExchange(const std::vector<int>& devices,
                                             const std::vector<ExchangeMessage>& messages) const = 0;
};

}  // namespace chakra
