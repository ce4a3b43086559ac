// Splits a second that `plan` prices, in closed form on one core; x_check: the time of a split over the time
// to check its validity and its memory, in the same run.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "bench/measure.h"
#include "replay/plan/prices.h"
#include "replay/plan/search.h"
#include "replay/plan/space.h"
#include "trace/generate/check.h"
#include "trace/generate/memory.h"
#include "trace/generate/workload.h"

namespace chakra::planning {
namespace {

struct Case {
  const char* model;
  const char* training;
  int ranks;
  std::vector<std::string> tries;
};
// The default space of --try, and a larger one: with more splits, more of them share a price.
const Case kDense = {"llama3-70b", "seq=8192,global_batch=1024", 1024, {}};
const Case kDenseMore = {
    "llama3-70b", "seq=8192,global_batch=1024", 1024, {"cp=1..8", "micro_batch=1..16", "zero=0,1,2,3"}};
const Case kExperts = {"qwen3-235b-a22b", "seq=4096,global_batch=2048", 1024, {}};
const Case kExpertsMore = {"qwen3-235b-a22b",
                           "seq=4096,global_batch=2048",
                           1024,
                           {"etp=1,2,4,8", "cp=1,2,4", "zero=0,1,2,3", "ep=1..128"}};

// Finds all splits from the start: each iteration makes all prices, units and pipelines.
void FindAll(benchmark::State& state, const Case& of) {
  generate::WorkloadOptions options;
  options.model = of.model;
  options.training = of.training;
  const auto workload = generate::ReadWorkload(options);
  RunOptions run;
  run.cluster = "dgx-h100";
  std::vector<double> ratios;
  uint64_t splits = 0, valid = 0;
  double seconds = 0;
  for (auto _ : state) {
    Found found;
    const double all = SecondsOf([&] {
      const auto prices = Prices::Make(run, of.ranks);
      const auto space = MakeSplitSpace(*workload, of.tries, of.ranks, (*prices)->node());
      found = *FindSplits(*space, uint64_t{72} << 30, prices->get());
    });
    splits = found.splits;
    valid = found.splits - found.not_valid;
    seconds += all;
    // The reference: check and memory of one split, the same number of times.
    const auto prices = Prices::Make(run, of.ranks);
    const auto space = MakeSplitSpace(*workload, of.tries, of.ranks, (*prices)->node());
    const auto step = StepOf(*space, found.fitting[0]);
    constexpr int kChecks = 2000;
    const double checks = SecondsOf([&] {
      for (int i = 0; i < kChecks; ++i) {
        benchmark::DoNotOptimize(generate::CheckPlan(*step));
        benchmark::DoNotOptimize(generate::MemoryOfStage(*step, 0));
      }
    });
    ratios.push_back(all / static_cast<double>(valid) / (checks / kChecks));
  }
  state.counters["splits"] = static_cast<double>(splits);
  state.counters["valid"] = static_cast<double>(valid);
  state.counters["splits_per_s"] =
      static_cast<double>(splits * static_cast<uint64_t>(state.iterations())) / seconds;
  state.counters["valid_per_s"] =
      static_cast<double>(valid * static_cast<uint64_t>(state.iterations())) / seconds;
  state.counters["x_check"] = Median(ratios);
}

BENCHMARK_CAPTURE(FindAll, dense, kDense)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(FindAll, dense_more, kDenseMore)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(FindAll, experts, kExperts)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(FindAll, experts_more, kExpertsMore)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace chakra::planning
