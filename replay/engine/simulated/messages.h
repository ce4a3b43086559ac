// Point-to-point messages: runs matched sends and receives as flows.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/machine.h"
#include "replay/engine/causes/cause.h"
#include "replay/engine/flow_log.h"
#include "replay/engine/match/match.h"
#include "replay/engine/measure/metrics.h"
#include "replay/nccl/message_prices.h"

namespace chakra {

// A send ends when its last byte has left, a receive when the last byte has arrived. A receive issued before
// its send listens. With a library, MessagePrices gives the additional costs of a message that begins while
// no other does: both ends are later by these costs, and the flow has their limit.
class Messages {
 public:
  // The arguments must outlive the object; `library` and `log` may be null.
  Messages(const Matching& matching, Machine* machine, const LibraryModel* library, FlowLog* log);

  // Keeps the causes given to Send(). Call it before the first message.
  void KeepCauses() { causes_.resize(state_.size()); }

  // Message `index` starts, for `cause`. Returns true if its receiver listens; the receiver then begins to
  // communicate.
  bool Send(uint32_t index, Time now, CauseRef cause = {});
  // The receiver of message `index` is ready. Returns whether the receiver now listens, or the message is
  // under way or has arrived.
  enum class Receive : uint8_t { kListens, kUnderWay, kThere };
  Receive Listen(uint32_t index, Time now);
  // The last byte of message `index` arrived. Returns true if the receiver waits for it.
  bool Arrive(uint32_t index, Time now);

  // The costs of message `index` other than those of the wire.
  MessageCosts CostsOf(uint32_t index);

  bool receiver_waits(uint32_t index) const { return (state_[index] & kReceiverWaits) != 0; }
  bool sent(uint32_t index) const { return (state_[index] & (kFlying | kArrived)) != 0; }

  // The cause of a message, if causes are kept. Call it once for each of the message's two FlowEnds; the
  // second call forgets the cause.
  CauseRef CauseOf(uint32_t index);

  // The index of the message whose flow has `tag`. Precondition: Send() started the flow.
  static uint32_t IndexOf(uint64_t tag);

  void Report(Metrics* metrics) const;

 private:
  enum State : uint8_t { kUnsent = 0, kFlying = 1, kArrived = 2, kReceiverWaits = 4, kTold = 8 };

  const Matching& matching_;
  Machine* machine_;
  MessagePrices prices_;
  FlowLog* log_;
  std::vector<uint8_t> state_;      // bits of State, by message
  std::vector<Time> first_, last_;  // by message: when its first side and its last side were ready
  std::vector<CauseRef> causes_;    // by message; empty: not kept
  CollectiveMetrics total_;
  uint64_t flows_ = 0;
};

}  // namespace chakra
