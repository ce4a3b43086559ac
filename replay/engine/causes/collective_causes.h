// Causes within collective calls: why each member and stream continues when it does.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/machine.h"
#include "replay/engine/causes/cause.h"
#include "replay/engine/match/match.h"
#include "replay/nccl/fast_path.h"
#include "replay/nccl/planned_call.h"
#include "trace/base/units.h"

namespace chakra {

// The member or switch whose time a call spends. A member is given by rank and node; a switch has neither.
struct Spender {
  uint32_t call = kNoRow;
  uint32_t rank = 0;
  uint32_t row = kNoRow;

  Cause Until(Time at, Cause::Kind kind) const {
    Cause cause;
    cause.kind = kind;
    cause.rank = rank;
    cause.row = row;
    cause.of = call;
    cause.at = at;
    return cause;
  }
};

// The causes of one call under way: of its members' arrivals, its streams and its messages. Connections and
// streams are numbered as in the call's plan.
class CallCauses {
 public:
  // The first of `members` members arrives for `cause`; the call's switches start at this time.
  void Open(size_t members, const CauseRef& cause) { *this = {cause, members}; }
  // The call runs step by step, with `streams` streams.
  void OpenStreams(size_t streams) { stream_.resize(streams); }
  void Arrive(uint32_t member, const CauseRef& cause) { arrival_[member] = cause; }
  // Why a node of the plan starts: a member, or a switch (numbers from the number of members on).
  const CauseRef& StartOf(uint32_t node) const { return node < arrival_.size() ? arrival_[node] : opening_; }

  const CauseRef& stream(uint32_t stream) const { return stream_[stream]; }
  // A stream starts or continues for `cause`.
  void Continue(uint32_t stream, const CauseRef& cause) { stream_[stream] = cause; }
  // The member of the stream spends the time until `cause` ends.
  void Spend(uint32_t stream, Cause&& cause) {
    stream_[stream] = Because(std::move(stream_[stream]), std::move(cause));
  }

  // A stream sends `flow` over a connection. The messages of a connection arrive in the order in which they
  // were sent.
  void Send(uint32_t stream, uint64_t connection, const Flow& flow);
  // The last message of a connection has left; its stream waited for this. The wait is the time of `spender`.
  void Left(uint32_t stream, uint64_t connection, const Spender& spender, Time now);
  // The first message under way on a connection arrived, and no stream waits for it. The stream that receives
  // the message later is late for another reason.
  void Received(uint64_t connection) { Take(connection); }
  // The first message under way on a connection arrived; `stream` waited for it. The wait is the time of
  // `spender`.
  void Received(uint64_t connection, uint32_t stream, const Spender& spender, Time now);

  CallCauses() = default;

 private:
  CallCauses(const CauseRef& opening, size_t members) : opening_(opening), arrival_(members) {}

  struct Message {
    CauseRef cause;
    int src = 0, dst = 0;
    uint64_t bytes = 0;
    Bandwidth limit;
    Time software;
  };
  Message Take(uint64_t connection);

  CauseRef opening_;
  std::vector<CauseRef> arrival_;  // by member
  std::vector<CauseRef> stream_;
  absl::flat_hash_map<uint64_t, std::deque<Message>> flying_;  // by connection
};

// The causes within calls whose members all arrive at the same instant. The first such call of a plan runs
// step by step; its causes hold for all later calls of the plan.
class LearnedCauses {
 public:
  // `matching` and `machine` are owned by the caller and must outlive this object.
  LearnedCauses(const Matching& matching, const MachineView& machine)
      : matching_(matching), machine_(machine) {}

  bool Knows(const PlannedCall* planned) const { return learned_.contains(planned); }
  // Records that `member` of `call`, a call that began at `begin`, ends for `cause`.
  void Learn(const PlannedCall* planned, const CollectiveCall& call, uint32_t member, Time begin,
             const CauseRef& cause);
  // By member: the member whose arrival decided when it ends. Precondition: Knows(planned).
  const std::vector<uint32_t>& Origins(const PlannedCall* planned) const {
    return learned_.at(planned).origin;
  }
  // By member: how its time was spent; null: not known.
  const std::vector<PathParts>* Parts(const PlannedCall* planned) const {
    const auto found = learned_.find(planned);
    return found == learned_.end() ? nullptr : &found->second.parts;
  }

 private:
  struct Learned {
    std::vector<uint32_t> origin;
    std::vector<PathParts> parts;
  };
  const Matching& matching_;
  const MachineView& machine_;
  std::map<const PlannedCall*, Learned> learned_;
};

}  // namespace chakra
