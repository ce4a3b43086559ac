#include "replay/critical_path/without_fixed_time.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "replay/compute/compute_times.h"
#include "replay/run/machine.h"
#include "trace/base/status_macros.h"
#include "trace/model/distinct_graphs.h"
#include "trace/model/fixed_time.h"

namespace chakra {
namespace {

std::shared_ptr<const Graph> WithoutDelays(const Graph& graph) {
  auto out = std::make_shared<Graph>(graph);
  // Keeps the delay columns, with all delays 0: the engine needs them for releases before the end of a
  // dependency.
  out->dep_delay = std::vector<Time>(graph.dep_delay.size());
  out->child_delay = std::vector<Time>(graph.child_delay.size());
  out->dep_unexplained = {};
  return out;
}

}  // namespace

absl::StatusOr<Time> MakespanWithoutFixedTime(const Simulation& simulation) {
  const DistinctGraphs distinct(simulation.traces);
  TraceSet traces = simulation.traces;
  std::vector<ComputeTimes> times = simulation.times;
  std::vector<std::shared_ptr<const Graph>> graphs;
  for (size_t g = 0; g < distinct.graphs.size(); ++g) {
    graphs.push_back(WithoutDelays(*distinct.graphs[g]));
    const RecordedWaits waits(*graphs[g]);
    for (uint32_t row = 0; row < graphs[g]->size(); ++row)
      times[g].time[row] -= waits.Of(row, times[g].time[row]);
  }
  for (size_t r = 0; r < traces.ranks.size(); ++r) traces.ranks[r].graph = graphs[distinct.of_rank[r]];
  RunOptions options = simulation.options;
  options.fabric_options.link_series = false;
  ASSIGN_OR_RETURN(auto machine,
                   BuildMachine(simulation.cluster, options, static_cast<int>(traces.ranks.size())));
  Simulation bare{options, simulation.cluster, traces, simulation.jobs, times, simulation.recorded_comm};
  bare.symmetric = simulation.symmetric;
  ASSIGN_OR_RETURN(const auto metrics, Simulate(bare, *machine));
  return metrics.makespan;
}

}  // namespace chakra
