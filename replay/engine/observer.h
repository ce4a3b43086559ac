// The interface through which a caller follows nodes while a run is in progress.
#pragma once

#include <cstdint>

#include "trace/base/units.h"

namespace chakra {

// The engine makes these calls in the order of time; within an instant, in an order that depends on the
// inputs alone. A node begins once and ends once. Communication begins with Wait() or Arrive(), all other
// nodes with Begin(). A rank is an index into TraceSet::ranks, a row is a row of the rank's graph.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // A node that is not communication begins.
  virtual void Begin(uint32_t rank, uint32_t row, Time now) = 0;
  // A send or a receive begins.
  virtual void Wait(uint32_t rank, uint32_t row, Time now) = 0;
  // A send or a receive that has begun moves data from now on.
  virtual void Transfer(uint32_t rank, uint32_t row, Time now) = 0;
  // One more member arrives at collective call `call`, which has `members` members with a trace. When the
  // last member arrives, all members begin to move data.
  virtual void Arrive(uint32_t rank, uint32_t row, uint32_t call, uint32_t members, Time now) = 0;
  virtual void End(uint32_t rank, uint32_t row, Time now) = 0;
};

}  // namespace chakra
