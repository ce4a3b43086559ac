// How long a message keeps its two end points busy, on a fabric that models processors and NICs but no links.
#pragma once

#include <cstdint>

#include "trace/base/units.h"

namespace chakra {

// A fabric that derives from EndpointPrices has no links. A message keeps a processor and a NIC busy at each
// of its two ends, and has to wait while computation or other messages use them. The engine simulates these
// waits (replay/engine/loggops/).
class EndpointPrices {
 public:
  // How long a message keeps each of the two busy, from the instant at which both are free.
  struct Busy {
    Time processor, card;
  };
  virtual ~EndpointPrices() = default;

  virtual Busy Sending(uint64_t bytes) const = 0;
  virtual Busy Receiving(uint64_t bytes) const = 0;
  // From the start of a send to the arrival of its first byte.
  virtual Time FirstByte() const = 0;
  // Whether a send of `bytes` ends only when its message meets the receive (rendezvous).
  virtual bool MeetsReceive(uint64_t bytes) const = 0;
};

}  // namespace chakra
