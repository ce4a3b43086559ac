// What a caller is told of nodes while a run goes on.
#pragma once

#include <cstdint>

#include "trace/base/units.h"

namespace chakra {

// The engine calls in the order of time; within an instant in an order that depends on the inputs alone. A node begins
// once and ends once: communication with Wait() or Arrive(), all others with Begin(). A rank is an index of
// TraceSet::ranks, a row one of its graph.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // A node that is no communication begins.
  virtual void Begin(uint32_t rank, uint32_t row, Time now) = 0;
  // Communication begins.
  virtual void Wait(uint32_t rank, uint32_t row, Time now) = 0;
  // Communication that has begun moves data from now on.
  virtual void Transfer(uint32_t rank, uint32_t row, Time now) = 0;
  // A collective call of `members` ranks has one more of them. With the last of them all move data.
  virtual void Arrive(uint32_t rank, uint32_t row, uint32_t call, uint32_t members, Time now) = 0;
  virtual void End(uint32_t rank, uint32_t row, Time now) = 0;
};

}  // namespace chakra
