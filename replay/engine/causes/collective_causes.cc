#include "replay/engine/causes/collective_causes.h"

#include <algorithm>
#include <utility>

#include "replay/engine/causes/critical_path.h"

namespace chakra {

void CallCauses::Send(uint32_t stream, uint64_t connection, const Flow& flow) {
  flying_[connection].push_back(
      {stream_[stream], flow.src, flow.dst, flow.OnLinks(), flow.limit, flow.delay});
}

void CallCauses::Left(uint32_t stream, uint64_t connection, const Spender& spender, Time now) {
  Cause cause = spender.Until(now, Cause::kSending);
  if (const std::deque<Message>& flying = flying_[connection]; !flying.empty()) {
    cause.src = flying.back().src;
    cause.dst = flying.back().dst;
    cause.bytes = flying.back().bytes;
    cause.limit = flying.back().limit;
  }
  Spend(stream, std::move(cause));
}

CallCauses::Message CallCauses::Take(uint64_t connection) {
  std::deque<Message>& flying = flying_[connection];
  Message message = std::move(flying.front());
  flying.pop_front();
  return message;
}

void CallCauses::Received(uint64_t connection, uint32_t stream, const Spender& spender, Time now) {
  Message message = Take(connection);
  Cause cause = spender.Until(now, Cause::kFlow);
  cause.src = message.src;
  cause.dst = message.dst;
  cause.bytes = message.bytes;
  cause.limit = message.limit;
  cause.software = message.software;
  stream_[stream] = Because(std::move(message.cause), std::move(cause));
}

void LearnedCauses::Learn(const PlannedCall* planned, const CollectiveCall& call, uint32_t member, Time begin,
                          const CauseRef& cause) {
  const std::vector<int>& members = matching_.groups[call.group].members;
  Learned& learned = learned_[planned];
  learned.origin.resize(members.size());
  learned.parts.resize(members.size());
  auto from = static_cast<uint32_t>(members[member]);
  learned.parts[member] = PartsSince(begin, cause, matching_, machine_, &from);
  const auto at = std::find(members.begin(), members.end(), static_cast<int>(from));
  learned.origin[member] = at == members.end() ? member : static_cast<uint32_t>(at - members.begin());
}

}  // namespace chakra
