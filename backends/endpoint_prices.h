// What messages cost their two ends, where processors and network cards are all that there is.
#pragma once

#include <cstdint>

#include "trace/base/units.h"

namespace chakra {

// A fabric that derives from EndpointPrices has no links: a message keeps a processor and a card busy at both
// of its ends, and so do computation and other messages. The engine simulates these (replay/engine/loggops/).
class EndpointPrices {
 public:
  // How long, from when both are free.
  struct Busy {
    Time processor, card;
  };
  virtual ~EndpointPrices() = default;

  virtual Busy Sending(uint64_t bytes) const = 0;
  virtual Busy Receiving(uint64_t bytes) const = 0;
  // From the begin of a send to the arrival of its first byte.
  virtual Time FirstByte() const = 0;
  // Whether a send of so many bytes ends only when its message meets the receive.
  virtual bool MeetsReceive(uint64_t bytes) const = 0;
};

}  // namespace chakra
