// Point-to-point messages: sends and receives that were matched, as flows.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/fabric.h"
#include "replay/engine/causes/cause.h"
#include "replay/engine/flow_log.h"
#include "replay/engine/match.h"
#include "replay/engine/measure/metrics.h"

namespace chakra {

// A send ends when its last byte has left, a receive when the last byte is there. A receive that was issued
// first listens.
class Messages {
 public:
  // All must outlive it; `log` may be null.
  Messages(const Matching& matching, Fabric* fabric, FlowLog* log);

  // Keeps the causes that Send() is given. Before the first message.
  void KeepCauses() { causes_.resize(state_.size()); }

  // Message `index` leaves, for `cause`. True if its receiver listens, and so begins to communicate.
  bool Send(uint32_t index, Time now, CauseRef cause = {});
  // Its receiver is ready for it.
  enum class Receive : uint8_t { kListens, kUnderWay, kThere };
  Receive Listen(uint32_t index, Time now);
  // Its last byte is there. True if its receiver waits for it.
  bool Arrive(uint32_t index, Time now);

  bool receiver_waits(uint32_t index) const { return (state_[index] & kReceiverWaits) != 0; }
  bool sent(uint32_t index) const { return (state_[index] & (kFlying | kArrived)) != 0; }

  // The cause of a message, where causes are kept: asked for once for each of its two FlowEnds, after which
  // it is forgotten.
  CauseRef CauseOf(uint32_t index);

  // Of a flow that Send() started.
  static uint32_t IndexOf(uint64_t tag);

  void Report(Metrics* metrics) const;

 private:
  enum State : uint8_t { kUnsent = 0, kFlying = 1, kArrived = 2, kReceiverWaits = 4, kTold = 8 };

  const Matching& matching_;
  Fabric* fabric_;
  FlowLog* log_;
  std::vector<uint8_t> state_;      // bits of State, by message
  std::vector<Time> first_, last_;  // both sides ready first, last
  std::vector<CauseRef> causes_;    // by message; empty: not kept
  CollectiveMetrics total_;
  uint64_t flows_ = 0;
};

}  // namespace chakra
