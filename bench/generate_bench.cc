// The time to make a step of 32,768 ranks that share files, on one thread: the graphs of all stages and their
// files. x_zstd: this time over that of compressing the same bytes, which no way of making them avoids.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bench/measure.h"
#include "trace/generate/resolve.h"
#include "trace/generate/workload.h"
#include "trace/generate/write.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::generate {
namespace {

struct Case {
  const char* model;
  const char* parallel;
  const char* training;
};
const Case kDense = {"llama3-405b", "tp=8,pp=16,dp=256,zero=1", "seq=8192,global_batch=16384"};
const Case kExperts = {"deepseek-v3", "pp=16,dp=2048,ep=64,zero=1", "seq=4096,global_batch=131072"};
const Case kRing = {"llama3-405b", "tp=8,pp=16,cp=16,dp=16,zero=1", "seq=131072,global_batch=1024"};
// With `tables` of different sizes, as many ranks have a graph of their own.
const Case kTables = {"", "dp=32768,row_wise=none", "global_batch=1048576"};

std::string TablesOf(int64_t tables) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < tables; ++i) rows.push_back(100'000 + 37 * i);
  return absl::StrCat("table_rows=", absl::StrJoin(rows, "+"),
                      ",pooling=1,dense_features=13,bottom=512+256+128,top=512+256+1");
}

// The uncompressed files of the folder.
std::vector<std::string> FramesIn(const std::string& folder) {
  std::vector<std::string> frames;
  for (const std::string& name : ListFolder(folder)) {
    if (absl::EndsWith(name, ".zst")) frames.push_back(*ReadFile(absl::StrCat(folder, "/", name)));
  }
  return frames;
}

void Compress(const std::vector<std::string>& frames) {
  for (const std::string& f : frames) {
    std::string out;
    CompressedFile file;
    if (!file.Open(&out, Compression::kZstd).ok() || !file.Finish(f).ok()) return;
    benchmark::DoNotOptimize(out.data());
  }
}

void Shared(benchmark::State& state, const Case& of) {
  WorkloadOptions options;
  options.model = of.model[0] == '\0' ? TablesOf(state.range(0)) : of.model;
  options.parallel = of.parallel;
  options.training = of.training;
  const auto workload = ReadWorkload(options);
  if (!workload.ok()) return state.SkipWithError(workload.status().ToString().c_str());
  const std::string folder =
      (std::filesystem::temp_directory_path() / absl::StrCat("generate_bench.", getpid())).string();
  std::vector<double> ratios;
  double seconds = 0;
  size_t bytes = 0, nodes = 0, graphs = 0;
  for (auto _ : state) {
    absl::StatusOr<StepGraphs> step;
    absl::Status written;
    const double made = SecondsOf([&] {
      step = BuildStep(*ResolvePlan(*workload));
      if (step.ok()) written = WriteSharedStep(*step, folder, 1);
    });
    if (!step.ok() || !written.ok()) return state.SkipWithError("the step cannot be written");
    const std::vector<std::string> frames = FramesIn(folder);
    bytes = nodes = 0;
    for (const std::string& f : frames) bytes += f.size();
    for (const StageGraph& stage : step->stages) nodes += stage.nodes.size();
    graphs = step->stages.size();
    seconds += made;
    ratios.push_back(made / SecondsOf([&] { Compress(frames); }));
  }
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  state.counters["graphs"] = static_cast<double>(graphs);
  state.counters["nodes"] = static_cast<double>(nodes);
  state.counters["MB"] = static_cast<double>(bytes) * 1e-6;
  state.counters["cpu_s"] = seconds / static_cast<double>(state.iterations());
  state.counters["x_zstd"] = Median(ratios);
}

BENCHMARK_CAPTURE(Shared, dense, kDense)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Shared, experts, kExperts)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Shared, ring, kRing)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Shared, tables, kTables)->Arg(1000)->Arg(4000)->Arg(14000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace chakra::generate
