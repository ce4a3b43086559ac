#include "replay/engine/simulated/messages.h"

#include <utility>

#include "replay/engine/simulated/collective_runner.h"

namespace chakra {

Messages::Messages(const Matching& matching, Machine* machine, const LibraryModel* library, FlowLog* log)
    : matching_(matching),
      machine_(machine),
      prices_(*machine, library),
      log_(log),
      state_(matching.messages.size(), kUnsent),
      first_(matching.messages.size()),
      last_(matching.messages.size()) {}

uint32_t Messages::IndexOf(uint64_t tag) {
  return static_cast<uint32_t>(tag & ~CollectiveRunner::kForeignTag);
}

bool Messages::Send(uint32_t index, Time now, CauseRef cause) {
  if (!causes_.empty()) causes_[index] = std::move(cause);
  const MatchedMessage& message = matching_.messages[index];
  const bool waits = receiver_waits(index);
  if (!waits) first_[index] = now;
  last_[index] = now;
  state_[index] |= kFlying;
  Flow flow;
  flow.src = message.src;
  flow.dst = message.dst;
  flow.bytes = message.bytes;
  flow.tag = CollectiveRunner::kForeignTag | index;
  flow.want_sent = true;
  const MessageCosts costs = CostsOf(index);
  flow.delay = costs.begin + costs.latency;
  flow.limit = costs.limit;
  if (log_ != nullptr) log_->Name({"send_recv", "", index});
  machine_->Start(flow, now);
  flows_ += message.times;
  if (message.times > 1) machine_->Account(message.src, message.dst, message.bytes, message.times - 1);
  return waits;
}

MessageCosts Messages::CostsOf(uint32_t index) {
  const MatchedMessage& message = matching_.messages[index];
  const MessageCosts* costs = prices_.Of(message.src, message.dst, message.bytes);
  return costs == nullptr ? MessageCosts() : *costs;
}

Messages::Receive Messages::Listen(uint32_t index, Time now) {
  uint8_t& state = state_[index];
  state |= kReceiverWaits;
  if (state & kArrived) return Receive::kThere;
  if (state & kFlying) return Receive::kUnderWay;
  first_[index] = now;
  return Receive::kListens;
}

CauseRef Messages::CauseOf(uint32_t index) {
  const bool second = (state_[index] & kTold) != 0;
  state_[index] |= kTold;
  return second ? std::exchange(causes_[index], {}) : causes_[index];
}

bool Messages::Arrive(uint32_t index, Time now) {
  state_[index] |= kArrived;
  const MatchedMessage& message = matching_.messages[index];
  const auto times = static_cast<int64_t>(message.times);
  total_.count += message.times;
  total_.bytes += message.bytes * message.times;
  total_.time += (now - last_[index]) * times;
  total_.wait += (last_[index] - first_[index]) * times;
  return receiver_waits(index);
}

void Messages::Report(Metrics* metrics) const {
  metrics->flows += flows_;
  if (total_.count == 0) return;
  CollectiveMetrics& total = metrics->collectives[{"send_recv", ""}];
  total = total_;
  total.ranks = 2;
}

}  // namespace chakra
