#include "replay/run/simulate.h"

#include "absl/strings/str_format.h"
#include "backends/fluid/options.h"
#include "replay/engine/engine.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/options.h"
#include "trace/base/stop.h"

namespace chakra {

LanePolicy LanesOf(const RunOptions& options) {
  if (options.lanes == "single") return LanePolicy::kSingle;
  if (options.lanes == "unlimited") return LanePolicy::kUnlimited;
  return LanePolicy::kRecorded;
}

std::vector<int> DimensionSizes(const ClusterModel& cluster) {
  std::vector<int> sizes;
  for (const TopologyDimension& d : cluster.topology.dimensions()) sizes.push_back(d.size);
  return sizes;
}

namespace {

// Whether the ranks wait for each other in a different way than in the recording. What-if edits do not count:
// their effect is the difference to the unedited run, so the waits of both must be the same.
bool Scaled(const Simulation& simulation) {
  const Variation& variation = simulation.cluster.variation;
  return simulation.traces.of_one_trace || variation.varies_compute() || !variation.starts().empty() ||
         !simulation.options.cluster.empty();
}

}  // namespace

absl::StatusOr<Metrics> Simulate(const Simulation& simulation, Machine& machine) {
  const ClusterModel& cluster = simulation.cluster;
  EngineOptions options;
  options.lanes = LanesOf(simulation.options);
  options.memory = cluster.memory;
  options.collectives = cluster.collectives;
  options.fast_paths = simulation.options.fast_paths && simulation.flow_log == nullptr;
  options.threads = simulation.options.fabric_options.threads;
  options.flow_log = simulation.flow_log;
  options.strict = simulation.options.strict;
  options.recorded_comm = simulation.recorded_comm;
  options.least_recorded_comm = Scaled(simulation);
  options.spans = simulation.spans;
  options.ran = simulation.ran;
  options.path = simulation.path;
  options.fixed_time = simulation.fixed_time;
  options.comm_kinds = simulation.comm_kinds;
  options.symmetric = simulation.symmetric;
  options.lane_names = simulation.lane_names;
  options.observer = simulation.observer;
  options.variation = cluster.variation.varies_compute() ? &cluster.variation : nullptr;
  options.device_of = cluster.device_of;
  options.start = RankStarts(simulation.jobs, cluster.variation);
  options.dimension_sizes = DimensionSizes(cluster);
  options.progress = simulation.progress;
  options.stop = simulation.stop != nullptr ? simulation.stop : StopFlag();
  const StopScope scope(options.stop);
  absl::StatusOr<Metrics> metrics = Replay(simulation.traces, simulation.times, machine, options);
  const double tolerance = simulation.options.fabric_options.Get<FlowOptions>().tolerance;
  if (metrics.ok() && tolerance > 0) {
    metrics->warnings.push_back(absl::StrFormat(
        "--fluid-tolerance %g: where the end of a flow changes the rates of hundreds of others, these get "
        "its bandwidth with a delay. The delay is at most %g %% of the time since a flow last began",
        tolerance, 100 * tolerance));
  }
  return metrics;
}

}  // namespace chakra
