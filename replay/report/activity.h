// The activity of lanes over time, in as much detail as a page can show.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "proto/report.pb.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/name_times.h"
#include "replay/engine/spans.h"
#include "trace/model/symmetric_ranks.h"
#include "trace/model/trace.h"

namespace chakra {

// Measures at most kRanks ranks, evenly spaced.
class ActivityMeter {
 public:
  static constexpr int kRanks = 8;
  static constexpr int kLanes = 6;  // the busiest lanes of a rank; the others are left out
  static constexpr int64_t kBuckets = 600;
  // Whether a run of `nodes` nodes is small enough to keep its spans for this meter.
  static bool Takes(uint64_t nodes) { return nodes <= uint64_t{4} << 20; }

  // A symmetric rank has the activity of the rank that is simulated for it. Arguments must outlive the
  // object; `symmetric` are the symmetric ranks and may be null.
  ActivityMeter(const TraceSet& traces, LanePolicy policy, const SymmetricRanks* symmetric, LaneNames* lanes);
  // Takes the spans of a rank that is simulated itself. Call once for each such rank. Thread-safe.
  void Measure(uint32_t rank, const std::vector<NodeSpan>& spans);
  // Fills Report.activity and activity_bucket_ps, for times from 0 to `end`.
  void AddTo(Time end, proto::Report* report) const;

 private:
  int OfRank(int rank) const {
    return IsSymmetricRank(symmetric_, rank) ? (*symmetric_)[static_cast<size_t>(rank)] : rank;
  }

  const TraceSet& traces_;
  const LanePolicy policy_;
  const SymmetricRanks* const symmetric_;
  LaneNames* const lanes_;
  std::vector<int> ranks_;
  std::mutex mutex_;
  std::vector<std::vector<NodeSpan>> spans_;  // by index in ranks_
};

// Fills `report` with the ranks, the makespan and the activity of recorded times, from the first start on.
// Sets only the ranks if there are no recorded times.
void AddRecordedActivity(const TraceSet& traces, proto::Report* report);

}  // namespace chakra
