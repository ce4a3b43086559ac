// Proofs about plans: that one computes its collective, cannot wait for itself,
// and what it moves between each pair.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/collectives/plan.h"

namespace chakra {

// Where a plan is wrong; -1: not known.
struct PlanFault {
  int node = -1;    // a member, or members + a switch
  int stream = -1;  // of the node
  int step = -1;    // of the stream
};

struct ProofOptions {
  int root = 0;  // of a rooted collective
  // Messages that a connection holds before its sender must wait; 0: any number.
  int in_flight = 0;
  // False: matching, sizes, and waiting only, for plans that do not say which
  // data their messages carry.
  bool data = true;
};

// ValidatePlan() with options. `fault` may be null.
absl::Status ProvePlan(const Plan& plan, const ProofOptions& options, PlanFault* fault);

struct PairTraffic {
  int from = 0;  // nodes: members, then switches
  int to = 0;
  uint64_t messages = 0;
  uint64_t bytes = 0;
  bool operator==(const PairTraffic&) const = default;
};

// What a call of `bytes` moves between each pair that exchanges messages, by
// (from, to). Errors: those of a plan whose steps do not fit together.
absl::StatusOr<std::vector<PairTraffic>> TrafficOf(const Plan& plan, uint64_t bytes);

}  // namespace chakra
