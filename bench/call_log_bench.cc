// Logs of collective calls on many ranks: generated verbose logs of NCCL's Inspector, read, joined and
// replayed. CHAKRA_LOG_RANKS and CHAKRA_LOG_CALLS set ranks (default 64) and calls of each (default 200). The
// reference is simdjson's plain DOM parse of the same lines, on one thread as the reader.
#include <benchmark/benchmark.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "backends/registry.h"
#include "bench/measure.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "trace/et/read_options.h"
#include "trace/import/collective_logs/importer.h"
#include "trace/import/reader.h"
#include "trace/io/compressed_file.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

int Asked(const char* name, int otherwise, int most) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::clamp(std::atoi(text), 2, most);
}

// One line as inspector_json.cc writes it, of call `k` of rank `r`: groups of 8 for all but each fourth call.
std::string LineOf(int r, int ranks, int k) {
  const bool world = k % 4 == 0 || ranks < 8;
  const int late = (r * 7919 + k * 31) % 97;  // no two ranks are alike
  const int64_t start = 1000000000 + int64_t{k} * 1000 + late;
  return absl::StrFormat(
      "{\"header\":{\"id\":\"0x%x\",\"comm_name\":\"unknown\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":1},"
      "\"metadata\":{"
      "\"inspector_output_format_version\":\"v4.0\",\"git_rev\":\"5067397c\",\"rec_mechanism\":\"nccl_"
      "profiler_interface\","
      "\"dump_timestamp_us\":1748030377748202,\"hostname\":\"node%d\",\"pid\":%d},\"coll_perf\":{\"coll\":\"%"
      "s\",\"coll_sn\":%d,"
      "\"coll_msg_size_bytes\":%d,\"coll_exec_time_us\":%d,\"coll_timing_source\":\"kernel_gpu\",\"coll_"
      "algobw_gbs\":1.5,"
      "\"coll_busbw_gbs\":2.25,\"event_trace_ts\":{\"coll_start_ts\":%d,\"coll_stop_ts\":%d,\"kernel_"
      "events\":[{"
      "\"channel_id\":0,\"kernel_start_ts\":%d,\"kernel_stop_ts\":%d,\"kernel_record_ts\":%d}]}}}\n",
      world ? 0xffff : r / 8, world ? r : r % 8, world ? ranks : std::min(8, ranks), r / 8, r,
      k % 4 == 0 ? "AllReduce" : "AllGather", k, 1 << (10 + k % 4), 300 - late, start - 5, start - 1, start,
      start + 300 - late, start + 300 - late);
}

std::string LogOf(int r, int ranks, int calls) {
  std::string out;
  for (int k = 0; k < calls; ++k) out += LineOf(r, ranks, k);
  return out;
}

void ReadOneLog(benchmark::State& state) {
  const int calls = 20 * Asked("CHAKRA_LOG_CALLS", 200, 100000);
  const std::string text = LogOf(0, 8, calls);
  std::vector<double> ours, theirs;
  for (auto _ : state) {
    ours.push_back(SecondsOf([&] {
      std::vector<collective_logs::RankLog> logs;
      if (!collective_logs::ReadLog(text, "generated.log", &logs).ok()) std::abort();
    }));
    state.SetIterationTime(ours.back());
    theirs.push_back(SecondsOf([&] {
      simdjson::dom::parser parser;
      const std::string padded = text + std::string(simdjson::SIMDJSON_PADDING, '\0');
      for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
        const auto at = static_cast<size_t>(line.data() - text.data());
        simdjson::dom::element root;
        const auto error = parser.parse(padded.data() + at, line.size(), false).get(root);
        benchmark::DoNotOptimize(error);
      }
    }));
  }
  state.counters["MB/s"] = static_cast<double>(text.size()) / 1e6 / Median(ours);
  state.counters["calls/s"] = calls / Median(ours);
  state.counters["x_simdjson_dom"] = Median(theirs) / Median(ours);
}

// Peak memory of the process so far, in bytes.
double PeakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

void ReadAndReplay(benchmark::State& state) {
  const int ranks = Asked("CHAKRA_LOG_RANKS", 64, 16384), calls = Asked("CHAKRA_LOG_CALLS", 200, 100000);
  const std::string folder =
      (std::filesystem::temp_directory_path() / absl::StrCat("chakra_call_logs_", getpid())).string();
  std::filesystem::create_directories(folder);
  for (int r = 0; r < ranks; ++r) {
    if (!WriteFile(absl::StrCat(folder, "/node", r / 8, "-pid", r, ".log.zst"), LogOf(r, ranks, calls)).ok())
      return state.SkipWithError("the logs cannot be written");
  }
  const double before = PeakBytes();
  ReadOptions options;
  options.threads = 1;  // the figures are of one core
  std::vector<double> read, replayed;
  for (auto _ : state) {
    absl::StatusOr<TraceSet> set;
    read.push_back(SecondsOf([&] { set = ReadTraceSet({folder}, options); }));
    if (!set.ok()) return state.SkipWithError(std::string(set.status().message()).c_str());
    std::vector<ComputeTimes> times;
    for (const Graph* graph : DistinctGraphs(*set).graphs) {
      ComputeTimes& t = times.emplace_back();
      t.time = graph->duration.ToVector();
      t.rung.assign(graph->size(), ComputeRung::kRecorded);
    }
    TopologyDimension d;
    d.kind = TopologyDimension::Kind::kSwitch;
    d.size = ranks;
    d.bandwidth = Bandwidth::BytesPerSecond(50000000000);
    auto machine = MakeMachine("analytical", *Topology::Make({d}), FabricOptions());
    EngineOptions engine;
    engine.recorded_comm = true;
    replayed.push_back(SecondsOf([&] {
      if (!Replay(*set, times, **machine, engine).ok()) std::abort();
    }));
    state.SetIterationTime(read.back() + replayed.back());
  }
  std::filesystem::remove_all(folder);
  const double all = static_cast<double>(ranks) * calls;
  state.counters["calls"] = all;
  state.counters["read_calls/s"] = all / Median(read);
  state.counters["replay_calls/s"] = all / Median(replayed);
  state.counters["bytes/call"] = (PeakBytes() - before) / all;
}

BENCHMARK(ReadOneLog)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(ReadAndReplay)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace chakra
