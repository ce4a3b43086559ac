// Why the streams of collectives go on when they do (replay/why).
#include <algorithm>
#include <utility>

#include "replay/engine/causes/critical_path.h"
#include "replay/engine/collective_runner.h"

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

void CollectiveRunner::EndMembersFor(uint32_t active) {
  const auto members = static_cast<uint32_t>(ends_.size());
  for (uint32_t m = 0; m < members; ++m) {
    Active& a = active_[active];
    Cause closed = Spent(a, m, Cause::kClosed, ends_[m]);
    closed.src = static_cast<int>(origins_[m]);
    closed.dst = static_cast<int>(m);
    CauseRef cause = Because(a.why.arrival[origins_[m]], std::move(closed));
    EndMember(a, m, ends_[m], std::move(cause));
  }
}

void CollectiveRunner::Learn(const Active& a, uint32_t member, const CauseRef& cause) {
  const std::vector<int>& members = matching_.groups[matching_.calls[a.call].group].members;
  Learned& learned = learned_[a.planned];
  learned.origin.resize(members.size());
  learned.parts.resize(members.size());
  auto from = static_cast<uint32_t>(members[member]);
  learned.parts[member] = PartsSince(a.first, cause, matching_, *fabric_, &from);
  const auto at = std::find(members.begin(), members.end(), static_cast<int>(from));
  learned.origin[member] = at == members.end() ? member : static_cast<uint32_t>(at - members.begin());
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
