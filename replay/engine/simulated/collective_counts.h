// Counts the times of collective calls by group and kind, and which rank waited for which.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "replay/engine/match/match.h"
#include "replay/engine/measure/metrics.h"
#include "replay/nccl/planned_call.h"
#include "trace/base/units.h"

namespace chakra {

class CollectiveCounts {
 public:
  // The caller's `matching` must outlive the counts.
  explicit CollectiveCounts(const Matching& matching);

  // Counts a finished call: when each member began (`begin`), the last of these times, and when the last
  // member ended.
  // Precondition: `begin` has a time for each member of the call's group.
  void CountCall(const CollectiveCall& call, const std::vector<Time>& begin, Time last_arrival,
                 Time last_end);
  // Counts the algorithm that a call used. Call it for each call, after every CountCall(), in the order in
  // which the report lists algorithms.
  void CountChoice(const CollectiveCall& call, const PlannedCall& planned);
  // Counts a flow that is simulated once for `times` symmetric groups.
  void CountFlow(uint64_t times = 1) { flows_ += times; }
  // Counts a call that was answered in closed form.
  void CountClosed(uint64_t times = 1) { closed_ += times; }

  uint64_t flows() const { return flows_; }

  // Adds the counts to `metrics`. Skips ranks that `metrics` does not have.
  void AddTo(Metrics* metrics) const;

 private:
  CollectiveMetrics& Total(const CollectiveCall& call) {
    return totals_[call.group][static_cast<size_t>(call.type)];
  }

  // Adds the waits of a call whose members began at `begin`; `last` is the first of the members that arrived
  // last.
  void AddWaits(const std::vector<int>& members, const std::vector<Time>& begin, Time last_arrival,
                size_t last);

  const Matching& matching_;
  // By group and kind; their names are looked up only at the end.
  std::vector<std::array<CollectiveMetrics, kCollectiveTypes>> totals_;
  std::vector<Time> waited_, kept_waiting_;  // by rank; see RankMetrics
  uint64_t flows_ = 0;
  uint64_t closed_ = 0;
};

}  // namespace chakra
