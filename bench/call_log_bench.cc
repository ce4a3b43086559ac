// Logs of collective calls on many ranks: reads, joins and replays generated verbose logs of NCCL's
// Inspector. CHAKRA_LOG_RANKS sets the ranks (default 64), CHAKRA_LOG_CALLS the calls of each (default 200),
// and CHAKRA_LOG_THREADS the threads that read and replay (default 1). CHAKRA_LOG_FOLDER names a folder that
// keeps the logs; logs in it are used again. The reference is simdjson's plain DOM parse of the same lines,
// on one thread as the reader.
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
#include "absl/strings/str_split.h"
#include "backends/registry.h"
#include "bench/measure.h"
#include "replay/compute/compute_times.h"
#include "replay/engine/engine.h"
#include "trace/base/parallel.h"
#include "trace/base/splitmix.h"
#include "trace/et/read_options.h"
#include "trace/import/collective_logs/importer.h"
#include "trace/import/reader.h"
#include "trace/io/compressed_file.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

int Asked(const char* name, int otherwise, int most) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::clamp(std::atoi(text), 1, most);
}

// Appends the line of call `k` of rank `r`, as inspector_json.cc writes it. Groups have 8 ranks in all but
// each fourth call.
void AddLine(int r, int ranks, int k, std::string* out) {
  const bool world = k % 4 == 0 || ranks < 8;
  // All ranks differ.
  const uint64_t of = uint64_t{static_cast<uint32_t>(r)} << 32 | static_cast<uint32_t>(k);
  const auto late = static_cast<int>(SplitMix(of + kSplitMixStep) % 97);
  const int64_t start = 1000000000 + int64_t{k} * 1000 + late, stop = start + 300 - late;
  absl::StrAppend(out, "{\"header\":{\"id\":\"0x", absl::Hex(world ? 0xffff : r / 8),
                  "\",\"comm_name\":\"unknown\",\"rank\":", world ? r : r % 8,
                  ",\"n_ranks\":", world ? ranks : std::min(8, ranks),
                  ",\"nnodes\":1},\"metadata\":{\"inspector_output_format_version\":\"v4.0\",\"git_rev\":"
                  "\"5067397c\",\"rec_mechanism\":\"nccl_profiler_interface\",\"dump_timestamp_us\":"
                  "1748030377748202,\"hostname\":\"node",
                  r / 8, "\",\"pid\":", r, "},\"coll_perf\":{\"coll\":\"",
                  k % 4 == 0 ? "AllReduce" : "AllGather", "\",\"coll_sn\":", k);
  absl::StrAppend(out, ",\"coll_msg_size_bytes\":", 1 << (10 + k % 4), ",\"coll_exec_time_us\":", 300 - late,
                  ",\"coll_timing_source\":\"kernel_gpu\",\"coll_algobw_gbs\":1.5,\"coll_busbw_gbs\":2.25,"
                  "\"event_trace_ts\":{\"coll_start_ts\":",
                  start - 5, ",\"coll_stop_ts\":", start - 1,
                  ",\"kernel_events\":[{\"channel_id\":0,\"kernel_start_ts\":", start,
                  ",\"kernel_stop_ts\":", stop, ",\"kernel_record_ts\":", stop, "}]}}}\n");
}

std::string LogOf(int r, int ranks, int calls) {
  std::string out;
  for (int k = 0; k < calls; ++k) AddLine(r, ranks, k, &out);
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

// A folder with logs: CHAKRA_LOG_FOLDER, or one that the destructor removes.
class Logs {
 public:
  Logs() {
    if (const char* own = std::getenv("CHAKRA_LOG_FOLDER"); own != nullptr) {
      folder_ = own;
      stays_ = true;
    } else {
      folder_ =
          (std::filesystem::temp_directory_path() / absl::StrCat("chakra_call_logs_", getpid())).string();
    }
    std::filesystem::create_directories(folder_);
  }
  ~Logs() {
    if (!stays_) std::filesystem::remove_all(folder_);
  }
  const std::string& folder() const { return folder_; }
  absl::Status Write(int ranks, int calls, int threads) const {
    if (!std::filesystem::is_empty(folder_)) return absl::OkStatus();
    return ForEach(static_cast<size_t>(ranks), threads, [&] {
      return [&](size_t i) {
        const auto r = static_cast<int>(i);
        return WriteFile(absl::StrCat(folder_, "/node", r / 8, "-pid", r, ".log.zst"),
                         LogOf(r, ranks, calls));
      };
    });
  }

 private:
  std::string folder_;
  bool stays_ = false;
};

absl::StatusOr<Metrics> ReplayLogs(const TraceSet& set, int threads) {
  std::vector<ComputeTimes> times;
  for (const Graph* graph : DistinctGraphs(set).graphs) {
    times.emplace_back().time = graph->duration;
  }
  TopologyDimension d;
  d.kind = TopologyDimension::Kind::kSwitch;
  d.size = static_cast<int>(set.ranks.size());
  d.bandwidth = Bandwidth::BytesPerSecond(50000000000);
  auto machine = MakeMachine("analytical", *Topology::Make({d}), FabricOptions());
  EngineOptions engine;
  engine.recorded_comm = true;
  engine.threads = threads;
  return Replay(set, times, **machine, engine);
}

void ReadAndReplay(benchmark::State& state) {
  const int ranks = Asked("CHAKRA_LOG_RANKS", 64, 16384), calls = Asked("CHAKRA_LOG_CALLS", 200, 100000);
  const Logs logs;
  ReadOptions options;
  options.threads = Asked("CHAKRA_LOG_THREADS", 1, 256);
  if (!logs.Write(ranks, calls, options.threads).ok())
    return state.SkipWithError("the logs cannot be written");
  const double before = PeakBytes();
  std::vector<double> read, replayed;
  double read_peak = 0, read_cpu = 0, replay_cpu = 0;
  for (auto _ : state) {
    absl::StatusOr<TraceSet> set;
    read.push_back(WallSecondsOf([&] {
      read_cpu = SecondsOf(CLOCK_PROCESS_CPUTIME_ID, [&] { set = ReadTraceSet({logs.folder()}, options); });
    }));
    if (!set.ok()) return state.SkipWithError(std::string(set.status().message()).c_str());
    read_peak = PeakBytes();
    replayed.push_back(WallSecondsOf([&] {
      replay_cpu = SecondsOf(CLOCK_PROCESS_CPUTIME_ID, [&] {
        if (!ReplayLogs(*set, options.threads).ok()) std::abort();
      });
    }));
    state.SetIterationTime(read.back() + replayed.back());
  }
  const double all = static_cast<double>(ranks) * calls;
  state.counters["calls"] = all;
  state.counters["read_calls/s"] = all / Median(read);
  state.counters["replay_calls/s"] = all / Median(replayed);
  state.counters["read_wall_s"] = Median(read);
  state.counters["read_cpu_s"] = read_cpu;  // of all threads
  state.counters["replay_wall_s"] = Median(replayed);
  state.counters["replay_cpu_s"] = replay_cpu;
  state.counters["read_bytes/call"] = (read_peak - before) / all;
  state.counters["bytes/call"] = (PeakBytes() - before) / all;
}

BENCHMARK(ReadOneLog)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(ReadAndReplay)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace chakra
