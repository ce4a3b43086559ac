// Proves that a plan computes its collective and has no cycle of waits, and computes what a plan moves
// between each pair of nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/collectives/plan.h"
#include "replay/collectives/proof.h"

namespace chakra {

// ValidatePlan() with options. `fault`, if not null, gets the place of an error.
absl::Status ProvePlan(const Plan& plan, const ProofOptions& options, PlanFault* fault);

struct PairTraffic {
  int from = 0;  // nodes: members, then switches
  int to = 0;
  uint64_t messages = 0;
  uint64_t bytes = 0;
  bool operator==(const PairTraffic&) const = default;
};

// The messages and bytes that a call of `bytes` moves between each pair of nodes, ordered by (from, to).
// Pairs without messages are left out. Errors: inconsistent steps of the plan.
absl::StatusOr<std::vector<PairTraffic>> TrafficOf(const Plan& plan, uint64_t bytes);

}  // namespace chakra
