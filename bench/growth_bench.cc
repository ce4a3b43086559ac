// The growth of time and memory of whole runs with ranks: for each row, four sizes and the exponents of both.
//
// Each size runs in its own process, so that its peak of memory is its own; the memory of an empty process is
// subtracted. Times are user times. If the run must do more than linear work in ranks (an exchange has n^2
// flows), `work` is the exponent of that work, and x_work is the exponent of time over it: 1 is linear. A row
// with x_work above 1.2 has GROWS in its label.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "replay/cli/command_line.h"
#include "test/peers/sends.h"

namespace chakra {
namespace {

constexpr double kMost = 1.2;         // of x_work
constexpr double kLeastMb = 2;        // below this the memory of a size is noise
constexpr double kRepeatUnder = 0.5;  // seconds: shorter runs are made three times, and the shortest counts

struct Row {
  const char* name;
  double work;  // the exponent of work in ranks
  std::vector<int> sizes;
  // A command line of chakra-replay: {n} ranks, {d} ranks over 8, {q} the square root of ranks, {trace} one
  // rank of a step with tensor parallelism of 8. Null: random sizes on fabric `fluid`.
  const char* command;
};

const char kStep[] = "llama3-8b:layers=4";

// Exchanges, reductions, steps.
const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
      {"all_to_all/random/fluid", 2, {32, 64, 128, 256}, nullptr},
      {"all_to_all/equal/analytical",
       2,
       {512, 1024, 2048, 4096},
       "collective all_to_all --ranks {n} --bytes 1MiB"},
      {"all_to_all/equal/fluid",
       2,
       {512, 1024, 2048, 4096},
       "collective all_to_all --ranks {n} --bytes 1MiB --fabric fluid"},
      {"all_to_all/equal/packet",
       2,
       {64, 128, 256, 512},
       "collective all_to_all --ranks {n} --bytes 1MiB --fabric packet --threads 1"},
      {"all_reduce/256MiB/analytical",
       1,
       {1024, 2048, 4096, 8192},
       "collective all_reduce --ranks {n} --bytes 256MiB"},
      {"all_reduce/ring/fluid",
       1,
       {32768, 65536, 131072, 262144},
       "collective all_reduce --ranks {n} --bytes 256MiB --algorithm ring --fabric fluid"},
      {"all_reduce/tree/fluid",
       1,
       {1024, 2048, 4096, 8192},
       "collective all_reduce --ranks {n} --bytes 1MiB --algorithm tree --fabric fluid"},
      {"all_reduce/16MiB/packet",
       1,
       {64, 128, 256, 512},
       "collective all_reduce --ranks {n} --bytes 16MiB --fabric packet --threads 1"},
      {"ranks/analytical", 1, {4096, 8192, 16384, 32768}, "replay {trace} --ranks {n} -q --threads 1"},
      {"ranks/fluid",
       1,
       {1024, 2048, 4096, 8192},
       "replay {trace} --ranks {n} -q --fabric fluid --threads 1"},
      {"step/analytical",
       1,
       {4096, 8192, 16384, 32768},
       "replay --model {step} --parallel tp=8,dp={d} --training seq=2048,micro_batch=1,global_batch={d} "
       "--cluster dgx-h100 -q --threads 1"},
      {"step/fluid",
       1,
       {1024, 2048, 4096, 8192},
       "replay --model {step} --parallel tp=8,dp={d} --training seq=2048,micro_batch=1,global_batch={d} "
       "--cluster dgx-h100 -q --threads 1 --fabric fluid"},
      {"step/fat_tree/fluid",
       1,
       {256, 512, 1024, 2048},
       "replay --model {step} --parallel tp=8,dp={d} --training seq=2048,micro_batch=1,global_batch={d} "
       "--cluster dgx-h100 -q --threads 1 --fabric fluid --network fat_tree"},
      // Tensor groups of the square root of all ranks: rings across nodes, so that flows grow as ranks^1.5.
      {"cliff/analytical",
       1.5,
       {64, 256, 1024, 4096},
       "replay --model llama3-8b:layers=1,heads=64,kv_heads=64 --parallel tp={q},dp={q} "
       "--training seq=2048,micro_batch=1,global_batch={q} --cluster dgx-h100 -q --threads 1"},
      {"cliff/fluid",
       1.5,
       {16, 64, 256, 1024},
       "replay --model llama3-8b:layers=1,heads=64,kv_heads=64 --parallel tp={q},dp={q} "
       "--training seq=2048,micro_batch=1,global_batch={q} --cluster dgx-h100 -q --threads 1 --fabric fluid"},
  };
  return rows;
}

struct Used {
  bool ok = false;
  double seconds = 0;
  double mb = 0;
};

// Runs `work` in its own process and drops the output.
Used InProcess(const std::function<int()>& work) {
  std::cout.flush();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    _exit(work());
  }
  int status = 0;
  rusage use = {};
  Used used;
  if (child < 0 || wait4(child, &status, 0, &use) != child) return used;
  used.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  used.seconds = static_cast<double>(use.ru_utime.tv_sec) + static_cast<double>(use.ru_utime.tv_usec) * 1e-6;
  used.mb = static_cast<double>(use.ru_maxrss) / 1024;
  return used;
}

int RunRandom(int ranks) {
  const auto topology = peers::OneDimension(TopologyDimension::Kind::kSwitch, ranks, Time::Nanos(500));
  if (!topology.ok()) return 1;
  std::mt19937_64 random(1);
  std::vector<peers::Send> sends;
  for (int s = 0; s < ranks; ++s) {
    for (int d = 0; d < ranks; ++d) {
      if (s != d) sends.push_back({s, d, (1 << 20) + random() % (1 << 20), Time::Zero()});
    }
  }
  double seconds = 0;
  const std::vector<double> received = peers::RunFluid(*topology, {}, sends, &seconds);
  return *std::min_element(received.begin(), received.end()) < 0 ? 1 : 0;
}

// One rank's trace of a step with tensor parallelism, in a folder that the destructor removes.
class OneRank {
 public:
  OneRank()
      : folder_(absl::StrCat(std::filesystem::temp_directory_path().string(), "/chakra_growth_", getpid())) {
    InProcess([&] {
      return cli::RunCommandLine({"generate", "--model", kStep, "--parallel", "tp=8,dp=2", "--training",
                                  "seq=2048,micro_batch=1,global_batch=2", "-o", folder_, "--ranks", "0"});
    });
  }
  ~OneRank() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  OneRank(const OneRank&) = delete;
  OneRank& operator=(const OneRank&) = delete;
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

// `trace`: for rows whose command names it.
Used RunSize(const Row& row, int ranks, const OneRank* trace) {
  if (row.command == nullptr) return InProcess([&] { return RunRandom(ranks); });
  const auto root = static_cast<int>(std::lround(std::sqrt(ranks)));
  std::vector<std::pair<std::string, std::string>> values = {{"{n}", absl::StrCat(ranks)},
                                                             {"{d}", absl::StrCat(ranks / 8)},
                                                             {"{q}", absl::StrCat(root)},
                                                             {"{step}", kStep}};
  if (trace != nullptr) values.push_back({"{trace}", trace->folder()});
  const std::vector<std::string> words =
      absl::StrSplit(absl::StrReplaceAll(row.command, values), ' ', absl::SkipEmpty());
  Used used;
  for (int run = 0; run < 3; ++run) {
    const Used one = InProcess([&] { return cli::RunCommandLine(words); });
    if (!one.ok) return one;
    if (run > 0) used.seconds = std::min(used.seconds, one.seconds);
    if (run == 0) used = one;
    if (one.seconds > kRepeatUnder) break;
  }
  return used;
}

// The slope of log(y) over log(x) by least squares; 0 for fewer than three points.
double Slope(const std::vector<std::pair<double, double>>& points) {
  if (points.size() < 3) return 0;
  const auto n = static_cast<double>(points.size());
  double x = 0, y = 0, xy = 0, xx = 0;
  for (const auto& [px, py] : points) {
    x += std::log(px) / n;
    y += std::log(py) / n;
  }
  for (const auto& [px, py] : points) {
    xy += (std::log(px) - x) * (std::log(py) - y);
    xx += (std::log(px) - x) * (std::log(px) - x);
  }
  return xy / xx;
}

void Grow(benchmark::State& state, const Row& row) {
  const Used empty = InProcess([] { return 0; });
  std::optional<OneRank> trace;
  if (row.command != nullptr && absl::StrContains(row.command, "{trace}")) trace.emplace();
  for (auto _ : state) {
    std::vector<std::pair<double, double>> times, memory;
    double seconds = 0, mb = 0, all = 0;
    for (const int ranks : row.sizes) {
      const Used used = RunSize(row, ranks, trace ? &*trace : nullptr);
      if (!used.ok) {
        const std::string error = absl::StrCat(ranks, " ranks: the run failed");
        return state.SkipWithError(error.c_str());
      }
      seconds = std::max(used.seconds, 1e-3);
      mb = used.mb - empty.mb;
      all += seconds;
      times.push_back({ranks, seconds});
      if (mb >= kLeastMb) memory.push_back({ranks, mb});
    }
    const double time = Slope(times);
    state.SetIterationTime(all);
    state.counters["time_in_ranks"] = time;
    state.counters["x_work"] = time / row.work;
    state.counters["memory_in_ranks"] = Slope(memory);
    state.counters["last_ranks"] = row.sizes.back();
    state.counters["last_s"] = seconds;
    state.counters["last_MB"] = mb;
    state.SetLabel(absl::StrFormat("work ~ ranks^%g%s", row.work, time > kMost * row.work ? " GROWS" : ""));
  }
}

const bool kRegistered = [] {
  for (const Row& row : Rows()) {
    benchmark::RegisterBenchmark(row.name, [&row](benchmark::State& state) { Grow(state, row); })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kSecond);
  }
  return true;
}();

}  // namespace
}  // namespace chakra
