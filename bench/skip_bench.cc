// A step of a GPT-like model packet by packet, with and without skipping: the speedup and the error.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "backends/packet/options.h"
#include "backends/registry.h"
#include "bench/measure.h"
#include "replay/cluster/load.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "replay/engine/options.h"
#include "replay/engine/spans.h"
#include "replay/run/cluster_model.h"
#include "test/validation/gpt_step.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

std::vector<ComputeTimes> Recorded(const TraceSet& traces) {
  std::vector<ComputeTimes> all;
  for (const Graph* graph : DistinctGraphs(traces).graphs) {
    ComputeTimes times;
    times.time.assign(graph->duration.begin(), graph->duration.end());
    times.time_source.assign(graph->size(), TimeSource::kRecorded);
    all.push_back(std::move(times));
  }
  return all;
}

struct Outcome {
  absl::Status status;
  double seconds = 0;
  NodeSpans spans;
  Time makespan;
  PacketTotals packets;
};

Outcome Run(const TraceSet& traces, const ClusterModel& cluster, const std::string& packet) {
  Outcome o;
  FabricOptions options;
  options.routing = cluster.routing;
  auto packets = packet::ParsePacketOptions(packet);
  if (!packets.ok()) return {packets.status()};
  options.Set(*packets);
  auto fabric = MakeMachine("packet", cluster.topology, options);
  if (!fabric.ok()) return {fabric.status()};
  EngineOptions engine;
  engine.spans = &o.spans;
  engine.collectives = cluster.collectives;
  const std::vector<ComputeTimes> compute = Recorded(traces);
  o.seconds = SecondsOf([&] {
    const auto metrics = Replay(traces, compute, **fabric, engine);
    o.status = metrics.status();
    if (metrics.ok()) o.makespan = metrics->makespan;
  });
  o.packets = (*fabric)->Packets();
  return o;
}

void GptStepOf(benchmark::State& state, GptStep step, const std::string& packet) {
  const auto traces = MakeGptStep(step);
  const auto proto = LoadCluster("dgx-h100");
  if (!traces.ok() || !proto.ok()) return state.SkipWithError("no traces, or no cluster");
  const auto cluster = BuildCluster(*proto, step.ranks());
  if (!cluster.ok()) return state.SkipWithError(cluster.status().ToString().c_str());
  for (auto _ : state) {
    const Outcome off = Run(*traces, *cluster, packet);
    const Outcome on = Run(*traces, *cluster, packet + (packet.empty() ? "" : ",") + "skip=all");
    if (!off.status.ok() || !on.status.ok()) {
      return state.SkipWithError((off.status.ok() ? on : off).status.ToString().c_str());
    }
    double worst = 0, sum = 0, count = 0;
    for (size_t r = 0; r < off.spans.size(); ++r) {
      const Graph& graph = *traces->ranks[r].graph;
      for (uint32_t row = 0; row < graph.size(); ++row) {
        const auto took = [&](const Outcome& o) {
          return static_cast<double>((o.spans[r][row].end - o.spans[r][row].begin).picos());
        };
        if (graph.type[row] == NodeType::kComp || took(off) == 0) continue;
        const double error = std::abs(took(on) / took(off) - 1);
        worst = std::max(worst, error);
        sum += error;
        ++count;
      }
    }
    state.SetIterationTime(on.seconds);
    state.counters["off_s"] = off.seconds;
    state.counters["x"] = off.seconds / on.seconds;
    state.counters["mean_error_%"] = 100 * sum / count;
    state.counters["worst_error_%"] = 100 * worst;
    state.counters["makespan_error_%"] = 100 * (on.makespan.seconds() / off.makespan.seconds() - 1);
    state.counters["hops"] = static_cast<double>(off.packets.hops);
    state.counters["skipped_%"] =
        100 * static_cast<double>(on.packets.skipped) / static_cast<double>(on.packets.packets);
  }
}

// A model of 13 billion parameters on 128 GPUs, with one and eight micro-batches. Eight take minutes.
GptStep Micro(int micro_batches) {
  GptStep step;
  step.micro_batches = micro_batches;
  return step;
}
BENCHMARK_CAPTURE(GptStepOf, window_1, Micro(1), "")
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(GptStepOf, dcqcn_1, Micro(1), "transport=dcqcn,flow_control=pfc,buffer=32MB")
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(GptStepOf, hpcc_1, Micro(1), "transport=hpcc,flow_control=pfc,buffer=32MB")
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(GptStepOf, window_8, Micro(8), "")
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace chakra
