// Real traces from file to metrics on one core, by wall time: reading with decompression, pricing and the
// replay, as in `chakra-replay replay --threads 1`.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "bench/measure.h"
#include "replay/cluster/load.h"
#include "replay/compute/compute.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "replay/engine/measure/metrics.h"
#include "replay/engine/options.h"
#include "replay/run/cluster_model.h"
#include "test/folders.h"
#include "trace/et/read_options.h"
#include "trace/import/reader.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

struct Work {
  const char* path;          // below the shared data
  double published_seconds;  // ASTRA-sim's, congestion-unaware; not measured here
};

// ASTRA-sim's wall times: ../shared/reference/astra-sim-results.md, "Feeding and compute".
constexpr Work kTiny{"stage/llama_tiny_8", 0.1};
constexpr Work kFsdp{"stage/llama8b_fsdp_16", 209};
constexpr Work kLarge{"stage/llama70b_256.tar.zst", 1050};

// Peak resident bytes of the process so far.
double PeakBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

struct Result {
  absl::Status status;
  double read_seconds = 0;
  double seconds = 0;  // in all
  Metrics metrics;
};

absl::StatusOr<Metrics> PriceAndReplay(const TraceSet& traces) {
  auto preset = LoadCluster("dgx-h100");
  if (!preset.ok()) return preset.status();
  auto cluster = BuildCluster(*preset, static_cast<int>(traces.ranks.size()));
  if (!cluster.ok()) return cluster.status();
  auto fabric = MakeMachine("analytical", cluster->topology, FabricOptions());
  if (!fabric.ok()) return fabric.status();
  ComputeModel model;
  model.time_sources = {TimeSource::kTable, TimeSource::kRoofline, TimeSource::kRecorded};
  model.device = &cluster->proto.device();
  ComputeNotes notes;
  std::vector<ComputeTimes> times;
  for (const Graph* graph : DistinctGraphs(traces).graphs) {
    auto priced = PriceGraph(*graph, model, &notes);
    if (!priced.ok()) return priced.status();
    times.push_back(*std::move(priced));
  }
  EngineOptions options;
  options.memory = cluster->memory;
  options.collectives = cluster->collectives;
  for (const TopologyDimension& d : cluster->topology.dimensions()) options.dimension_sizes.push_back(d.size);
  return Replay(traces, times, **fabric, options);
}

Result RunOnce(const std::string& path) {
  Result result;
  result.seconds = WallSecondsOf([&] {
    absl::StatusOr<TraceSet> traces = absl::UnknownError("not read");
    result.read_seconds = WallSecondsOf([&] { traces = ReadTraceSet({path}, ReadOptions()); });
    if (!traces.ok()) {
      result.status = traces.status();
      return;
    }
    auto metrics = PriceAndReplay(*traces);
    result.status = metrics.status();
    if (metrics.ok()) result.metrics = *std::move(metrics);
  });
  return result;
}

void Real(benchmark::State& state, const Work& work) {
  const std::string path = std::string(CHAKRA_SHARED_DATA) + "/" + work.path;
  if (!std::filesystem::exists(path)) return state.SkipWithError("the trace is not there");
  std::vector<double> seconds, reading;
  double nodes = 0;
  for (auto _ : state) {
    const Result result = RunOnce(path);
    if (!result.status.ok()) return state.SkipWithError(std::string(result.status.message()).c_str());
    seconds.push_back(result.seconds);
    reading.push_back(result.read_seconds);
    nodes = static_cast<double>(result.metrics.nodes);
    state.SetIterationTime(result.seconds);
  }
  state.counters["nodes"] = nodes;
  state.counters["read_s"] = Median(reading);
  state.counters["replay_s"] = Median(seconds) - Median(reading);
  state.counters["peak_MB"] = PeakBytes() / 1e6;  // of the process: exact only if one benchmark runs
  state.counters["x_astra_sim_published"] = work.published_seconds / Median(seconds);
}

constexpr auto kMs = benchmark::kMillisecond;
BENCHMARK_CAPTURE(Real, llama_tiny_8, kTiny)->UseManualTime()->Unit(kMs)->Iterations(15);
BENCHMARK_CAPTURE(Real, llama8b_fsdp_16, kFsdp)->UseManualTime()->Unit(kMs)->Iterations(7);
BENCHMARK_CAPTURE(Real, llama70b_256, kLarge)->UseManualTime()->Unit(kMs)->Iterations(3);

}  // namespace
}  // namespace chakra
