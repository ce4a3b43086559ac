// The interface of communication, as the event loop uses it: nodes begin, and end some time later.
//
// There are three implementations: flows on the machine (simulated/), recorded times (recorded/), and
// LogGOPS, in which messages keep processors and NICs busy (loggops/). None calls the loop back: after each
// call, the loop reads what the implementation has collected.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "replay/engine/causes/cause.h"
#include "replay/engine/measure/metrics.h"
#include "replay/nccl/fast_path.h"
#include "trace/base/units.h"

namespace chakra {

class Communication {
 public:
  struct Node {
    uint32_t rank = 0, row = 0;
  };
  struct Ended {
    uint32_t rank;
    uint32_t row;
    Time at;         // may be in the future
    CauseRef cause;  // if causes are kept
  };
  // Asks the loop to call OnWake(active, stream) at `at`.
  struct Wake {
    Time at;
    uint32_t active;
    uint32_t stream;
  };

  virtual ~Communication() = default;

  // Called before the first node begins. Returns an error for a run that the implementation cannot do.
  virtual absl::Status Prepare() = 0;
  // Node `row` of `rank` begins, for `cause`.
  virtual void Begin(uint32_t rank, uint32_t row, Time now, CauseRef cause) = 0;
  // The time of the next event of this implementation's own. The caller begins no node before that time or
  // `limit`.
  virtual Time NextEvent(Time /*limit*/) { return Time::Never(); }
  virtual void AdvanceTo(Time /*now*/) {}
  virtual void OnWake(uint32_t /*active*/, uint32_t /*stream*/, Time /*now*/) {}

  // Whether the implementation simulates all nodes, computation included. If so, the loop calls Released() in
  // place of Begin(), as soon as it knows when the node may begin. The implementation may then report the end
  // of a node before the node's end time; the loop releases the node's children at once.
  virtual bool ahead() const { return false; }
  virtual void Released(uint32_t /*rank*/, uint32_t /*row*/, Time /*not_before*/) {}

  // The caller empties these lists. Ends at the same instant are in the order in which they occurred.
  std::vector<Ended>& ended() { return ended_; }
  std::vector<Wake>& wakes() { return wakes_; }
  // Nodes that move data from now on: receives whose messages have begun. If ahead(): all nodes that run.
  std::vector<Node>& moving() { return moving_; }
  // Nodes that begin now; used only if ahead().
  std::vector<Node>& began() { return began_; }

  // For error messages about runs that cannot finish: whether a member has arrived at a call, whether a
  // receiver waits for its message, and whether a message has been sent.
  virtual bool Arrived(uint32_t /*call*/, uint32_t /*member*/) const { return false; }
  virtual bool ReceiverWaits(uint32_t /*message*/) const { return false; }
  virtual bool Sent(uint32_t /*message*/) const { return false; }
  // The error of a run in which `left` nodes are unfinished and no event is left. OK: no error of its own;
  // the caller diagnoses the run.
  virtual absl::Status Unfinished(uint64_t /*left*/) const { return absl::OkStatus(); }

  // Explains a call that was answered in closed form: see FastPath::Explain().
  virtual PathParts Explain(uint32_t /*call*/, uint32_t /*origin*/, uint32_t /*member*/) { return {}; }
  // Adds the measurements of the implementation to `metrics`, which already contains the ranks.
  virtual void Report(Metrics* metrics) = 0;

 protected:
  std::vector<Ended> ended_;
  std::vector<Wake> wakes_;
  std::vector<Node> moving_, began_;
};

}  // namespace chakra
