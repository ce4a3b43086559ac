#include "replay/run/simulate.h"

#include <utility>

#include "backends/placed_fabric.h"
#include "backends/registry.h"
#include "replay/engine/engine.h"
#include "replay/engine/flow_log.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/options.h"

namespace chakra {

std::string FabricName(const RunOptions& options) {
  return options.fabric.empty() ? kDefaultFabric : options.fabric;
}

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

absl::StatusOr<std::unique_ptr<Fabric>> BuildFabric(const RunOptions& options, const ClusterModel& cluster,
                                                    int ranks, FlowLog* log) {
  FabricOptions of = options.fabric_options;
  of.routing = cluster.routing;
  of.changes = cluster.link_changes;
  of.packet = cluster.packet;
  of.packet_given = cluster.packet_given;
  of.choices = cluster.choices;
  auto fabric = MakeFabric(FabricName(options), cluster.topology, of);
  if (!fabric.ok()) return fabric.status();
  if (log != nullptr) {
    log->SetRanks(cluster.device_of, ranks);
    *fabric = Logged(*std::move(fabric), log);
  }
  return Place(*std::move(fabric), cluster.device_of);
}

absl::StatusOr<Metrics> Simulate(const Simulation& simulation, Fabric& fabric) {
  const ClusterModel& cluster = simulation.cluster;
  EngineOptions options;
  options.lanes = LanesOf(simulation.options);
  options.memory = cluster.memory;
  options.collectives = cluster.collectives;
  options.fast_paths = simulation.options.fast_paths && simulation.flow_log == nullptr;
  options.flow_log = simulation.flow_log;
  options.strict = simulation.options.strict;
  options.recorded_comm = simulation.recorded_comm;
  options.spans = simulation.spans;
  options.path = simulation.path;
  options.variation = cluster.variation.varies_compute() ? &cluster.variation : nullptr;
  options.device_of = cluster.device_of;
  options.start = RankStarts(simulation.jobs, cluster.variation);
  options.dimension_sizes = DimensionSizes(cluster);
  options.progress = simulation.progress;
  return Replay(simulation.traces, simulation.times, fabric, options);
}

}  // namespace chakra
