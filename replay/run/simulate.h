// Replays priced traces on a machine.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/machine.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"
#include "replay/engine/spans.h"
#include "replay/run/cluster_model.h"
#include "replay/run/jobs.h"
#include "replay/run/options.h"

namespace chakra {

LanePolicy LanesOf(const RunOptions& options);
// The sizes of the machine's dimensions, fastest first.
std::vector<int> DimensionSizes(const ClusterModel& cluster);

// The arguments of a simulation. Nothing is owned.
struct Simulation {
  const RunOptions& options;
  const ClusterModel& cluster;
  const TraceSet& traces;
  const std::vector<Job>& jobs;
  const std::vector<ComputeTimes>& times;
  bool recorded_comm = false;
  // As in EngineOptions; may be null:
  FlowLog* flow_log = nullptr;
  std::function<void(const Progress&)> progress;
  const std::atomic<bool>* stop = nullptr;
  NodeSpans* spans = nullptr;
  std::function<void(uint32_t rank, const std::vector<NodeSpan>& spans)> ran;
  CriticalPath* path = nullptr;
  FixedTimeRun* fixed_time = nullptr;
  const std::vector<std::vector<uint8_t>>* comm_kinds = nullptr;
  const SymmetricRanks* symmetric = nullptr;
  LaneNames* lane_names = nullptr;
  RunObserver* observer = nullptr;
};
absl::StatusOr<Metrics> Simulate(const Simulation& simulation, Machine& machine);

}  // namespace chakra
