// Why the streams of collectives go on when they do (replay/why).
#include <utility>

#include "replay/collective_runner.h"

namespace chakra {

Cause CollectiveRunner::Spent(const Active& a, uint32_t member, Cause::Kind kind, Time at) const {
  const std::vector<int>& members = matching_.groups[matching_.calls[a.call].group].members;
  Cause cause;
  cause.kind = kind;
  cause.of = a.call;
  cause.at = at;
  if (member < members.size()) {  // else a switch
    cause.rank = static_cast<uint32_t>(members[member]);
    cause.row = a.row[member];
  }
  return cause;
}

void CollectiveRunner::WakeAfter(Active& a, uint32_t active, uint32_t stream, Time at, Cause::Kind kind) {
  wakes_.push_back({at, active, stream});
  if (!keep_causes_) return;
  CauseRef& cause = a.why.stream[stream];
  cause = Because(std::move(cause), Spent(a, a.streams[stream].member, kind, at));
}

void CollectiveRunner::Left(Active& a, uint32_t stream, uint64_t connection, Time now) {
  Cause cause = Spent(a, a.streams[stream].member, Cause::kSending, now);
  if (const std::deque<Flying>& flying = a.why.flying[connection]; !flying.empty()) {
    cause.src = flying.back().src;
    cause.dst = flying.back().dst;
    cause.bytes = flying.back().bytes;
  }
  a.why.stream[stream] = Because(std::move(a.why.stream[stream]), std::move(cause));
}

void CollectiveRunner::Received(Active& a, uint32_t waiter, uint64_t connection, Time now) {
  std::deque<Flying>& flying = a.why.flying[connection];
  Flying message = std::move(flying.front());
  flying.pop_front();
  if (waiter == 0) return;  // whoever takes it later is late for its own reasons
  Cause cause = Spent(a, a.streams[waiter - 1].member, Cause::kFlow, now);
  cause.src = message.src;
  cause.dst = message.dst;
  cause.bytes = message.bytes;
  cause.software = message.software;
  a.why.stream[waiter - 1] = Because(std::move(message.cause), std::move(cause));
}

}  // namespace chakra
