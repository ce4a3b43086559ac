// What communication does, as the loop sees it: nodes begin, and end some time later.
//
// Three do it: flows on the machine (simulated/), recorded times (recorded/), and processors and cards that
// messages keep busy (loggops/). None calls back: the loop takes what they collect after each call.
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
    Time at;         // may lie in the future
    CauseRef cause;  // where causes are kept
  };
  // The loop calls OnWake() at `at`.
  struct Wake {
    Time at;
    uint32_t active;
    uint32_t stream;
  };

  virtual ~Communication() = default;

  // Before the first node begins. Errors: what it cannot do.
  virtual absl::Status Prepare() = 0;
  // Node `row` of `rank` begins, for `cause`.
  virtual void Begin(uint32_t rank, uint32_t row, Time now, CauseRef cause) = 0;
  // The earliest instant of an event of its own; the caller begins nothing before the answer or `limit`.
  virtual Time NextEvent(Time /*limit*/) { return Time::Never(); }
  virtual void AdvanceTo(Time /*now*/) {}
  virtual void OnWake(uint32_t /*active*/, uint32_t /*stream*/, Time /*now*/) {}

  // Whether it simulates what nodes run on, computation included. Then it gets each node by Released() in
  // place of Begin(), as soon as it is known when the node may begin, and may end nodes ahead of time: their
  // children are released at once.
  virtual bool ahead() const { return false; }
  virtual void Released(uint32_t /*rank*/, uint32_t /*row*/, Time /*not_before*/) {}

  // The caller empties these. Ends of one instant are in the order in which they came about.
  std::vector<Ended>& ended() { return ended_; }
  std::vector<Wake>& wakes() { return wakes_; }
  // Nodes that move data from now on: receives whose messages have begun; of ahead(), all that run.
  std::vector<Node>& moving() { return moving_; }
  // Of ahead(): nodes that begin now.
  std::vector<Node>& began() { return began_; }

  // For messages about runs that cannot finish: whether a member has arrived at a call, a receiver waits for
  // its message, a message has been sent.
  virtual bool Arrived(uint32_t /*call*/, uint32_t /*member*/) const { return false; }
  virtual bool ReceiverWaits(uint32_t /*message*/) const { return false; }
  virtual bool Sent(uint32_t /*message*/) const { return false; }
  // The error of a run in which `left` nodes are left when nothing more can happen; OK: it has no own one.
  virtual absl::Status Unfinished(uint64_t /*left*/) const { return absl::OkStatus(); }

  // Explains a call that was answered in closed form: see FastPath::Explain().
  virtual PathParts Explain(uint32_t /*call*/, uint32_t /*origin*/, uint32_t /*member*/) { return {}; }
  // Adds what it did to `metrics`, which have the ranks.
  virtual void Report(Metrics* metrics) = 0;

 protected:
  std::vector<Ended> ended_;
  std::vector<Wake> wakes_;
  std::vector<Node> moving_, began_;
};

}  // namespace chakra
