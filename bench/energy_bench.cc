// The cost of a meter in a run: pairs of one replay without and with a meter, on the same traces and times.
#include <benchmark/benchmark.h>

#include <string>

#include "bench/measure.h"
#include "replay/report/run_replay.h"
#include "replay/run/traces.h"
#include "trace/generate/importer.h"
#include "trace/generate/workload.h"

namespace chakra {
namespace {

struct Step {
  const char* name;
  const char* parallel;
  const char* training;
  const char* fabric;
};
constexpr Step kSteps[] = {
    {"64 ranks, closed forms", "tp=8,pp=2,dp=4", "global_batch=32,seq=4096", "analytical"},
    {"256 ranks, closed forms", "tp=8,pp=4,dp=8", "global_batch=64,seq=4096", "analytical"},
    {"32 ranks, fluid", "tp=4,pp=2,dp=4", "global_batch=16,seq=4096", "fluid"},
};

// Thread time of a whole RunReplay() with --energy over the time without: with the meter on the run's thread,
// and with the meter on its own thread.
void Metered(benchmark::State& state) {
  const Step& step = kSteps[state.range(0)];
  generate::WorkloadOptions workload;
  workload.model = "llama3-8b";
  workload.parallel = step.parallel;
  workload.training = step.training;
  const auto read = generate::ReadWorkload(workload);
  if (!read.ok()) return state.SkipWithError(std::string(read.status().message()).c_str());
  TraceOptions traces;
  traces.inputs = {generate::WorkloadInput(*read)};
  const auto loaded = LoadTraces(traces);
  if (!loaded.ok()) return state.SkipWithError(std::string(loaded.status().message()).c_str());
  RunOptions off;
  off.cluster = "dgx-h100";
  off.fabric = step.fabric;
  RunOptions on = off;
  on.energy = true;
  RunOptions beside = on;
  beside.fabric_options.threads = 2;
  uint64_t nodes = 0;
  std::vector<double> plain, metered, apart;
  for (auto _ : state) {
    plain.push_back(SecondsOf([&] { benchmark::DoNotOptimize(RunReplay(*loaded, off)); }));
    metered.push_back(SecondsOf([&] {
      const auto report = RunReplay(*loaded, on);
      if (report.ok()) nodes = report->nodes();
    }));
    apart.push_back(SecondsOf([&] { benchmark::DoNotOptimize(RunReplay(*loaded, beside)); }));
  }
  state.SetLabel(step.name);
  state.counters["nodes"] = static_cast<double>(nodes);
  state.counters["seconds_off"] = Median(plain);
  state.counters["seconds_on"] = Median(metered);
  state.counters["on_over_off"] = Median(metered) / Median(plain);
  state.counters["beside_over_off"] = Median(apart) / Median(plain);
}
BENCHMARK(Metered)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace chakra
