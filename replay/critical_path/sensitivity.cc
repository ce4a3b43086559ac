#include "replay/critical_path/sensitivity.h"

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "replay/compute/compute_times.h"
#include "replay/nccl/library.h"
#include "replay/run/machine.h"
#include "trace/base/status_macros.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

// A change of a machine and of compute times, as factors.
struct Change {
  double device = 1, host = 1, memory = 1;  // factors of times
  int level = -1;
  double bandwidth = 1, latency = 1;  // factors for the links of the level
};

// nullopt: the change cannot be made to a machine.
std::optional<Change> ChangeOf(const PathChange& of, const Topology& topology) {
  Change change;
  switch (of.of) {
    case PathChange::Of::kDeviceSpeed:
      change.device = 1 / 1.01;
      return change;
    case PathChange::Of::kHostSpeed:
      change.host = 1 / 1.01;
      return change;
    case PathChange::Of::kMemorySpeed:
      change.memory = 1 / 1.01;
      return change;
    case PathChange::Of::kBandwidth:
      change.bandwidth = 1.01;
      break;
    case PathChange::Of::kLatency:
      change.latency = 0.99;
      break;
    case PathChange::Of::kLibraryTime:
    case PathChange::Of::kDelays:
      return std::nullopt;
  }
  change.level = of.level;
  const auto levels = static_cast<int>(topology.dimensions().size());
  return change.level >= 0 && change.level < levels ? std::optional(change) : std::nullopt;
}

Time Scaled(Time time, double factor) {
  return Time::Picos(static_cast<int64_t>(std::llround(static_cast<double>(time.picos()) * factor)));
}

Bandwidth Scaled(Bandwidth bandwidth, double factor) {
  return Bandwidth::BytesPerSecond(std::llround(static_cast<double>(bandwidth.bytes_per_second()) * factor));
}

std::vector<ComputeTimes> ScaledTimes(const Simulation& simulation, const Change& change) {
  std::vector<ComputeTimes> times = simulation.times;
  const DistinctGraphs distinct(simulation.traces);
  for (size_t g = 0; g < times.size(); ++g) {
    for (uint32_t row = 0; row < times[g].time.size(); ++row) {
      Time& time = times[g].time[row];
      time = Scaled(time, distinct.graphs[g]->is_cpu(row) ? change.host : change.device);
    }
  }
  return times;
}

// The cluster with the change. A plain dimension changes by its fields in the cluster file, so that the
// library follows; a network changes by its links.
absl::StatusOr<ClusterModel> ScaledMachine(const ClusterModel& cluster, int ranks, const Change& change) {
  ClusterModel model = cluster;
  model.memory.bandwidth = Scaled(model.memory.bandwidth, 1 / change.memory);
  model.memory.latency = Scaled(model.memory.latency, change.memory);
  if (change.level < 0) return model;
  std::vector<TopologyDimension> dimensions = cluster.topology.dimensions();
  TopologyDimension& d = dimensions[static_cast<size_t>(change.level)];
  if (d.kind == TopologyDimension::Kind::kNetwork) {
    auto network = std::make_shared<Network>(*d.network);
    network->graph = network->graph.Scaled(change.bandwidth, change.latency);
    d.network = std::move(network);
    ASSIGN_OR_RETURN(model.topology, Topology::Make(std::move(dimensions)));
    if (model.collectives.library != nullptr) {  // the library's limits are shares of the NICs' bandwidth
      auto library = std::make_shared<LibraryModel>(*model.collectives.library);
      library->levels[static_cast<size_t>(change.level)].link_gbytes_per_s *= change.bandwidth;
      model.collectives.library = std::move(library);
    }
    return model;
  }
  proto::Cluster changed = cluster.proto;
  proto::Dimension* field = changed.mutable_topology()->mutable_dimension(change.level);
  field->set_bandwidth_bytes_per_s(Scaled(d.bandwidth, change.bandwidth).bytes_per_second());
  field->set_latency_ns(static_cast<double>(Scaled(d.latency, change.latency).picos()) / 1000);
  return BuildCluster(changed, ranks);
}

absl::StatusOr<Time> MakespanWith(const Simulation& simulation, const Change& change) {
  const int ranks = static_cast<int>(simulation.traces.ranks.size());
  ASSIGN_OR_RETURN(const auto cluster, ScaledMachine(simulation.cluster, ranks, change));
  const std::vector<ComputeTimes> times = ScaledTimes(simulation, change);
  RunOptions options = simulation.options;
  options.fabric_options.link_series = false;
  ASSIGN_OR_RETURN(auto machine, BuildMachine(cluster, options, ranks));
  Simulation changed{options, cluster, simulation.traces, simulation.jobs, times, simulation.recorded_comm};
  changed.progress = simulation.progress;
  changed.stop = simulation.stop;
  ASSIGN_OR_RETURN(const auto metrics, Simulate(changed, *machine));
  return metrics.makespan;
}

}  // namespace

absl::Status MeasureSensitivities(const Simulation& simulation, Time makespan,
                                  const std::vector<PathChange>& changes, proto::CriticalPathReport* path) {
  for (size_t i = 0; i < changes.size(); ++i) {
    const std::optional<Change> change = ChangeOf(changes[i], simulation.cluster.topology);
    if (!change) continue;
    ASSIGN_OR_RETURN(const auto then, MakespanWith(simulation, *change));
    proto::Sensitivity* s = path->mutable_sensitivity(static_cast<int>(i));
    s->set_measured(true);
    s->set_measured_ps((makespan - then).picos());
  }
  return absl::OkStatus();
}

}  // namespace chakra
