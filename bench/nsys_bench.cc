// The reader of Nsight Systems' exports on a generated one, against a plain walk over all rows and values of
// the same file by SQLite. CHAKRA_CAPTURE_MB sets the size (default 100, up to 4096).
#include <benchmark/benchmark.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/measure.h"
#include "bench/nsys_generator.h"
#include "trace/import/nsys/export_file.h"
#include "trace/import/nsys/importer.h"
#include "trace/import/reader.h"
#include "trace/model/inspect.h"

namespace chakra {
namespace {

namespace fs = std::filesystem;

// An export of the requested size; the destructor removes it.
class Generated {
 public:
  Generated() {
    const char* text = std::getenv("CHAKRA_CAPTURE_MB");
    const auto bytes = static_cast<uint64_t>(std::clamp(text == nullptr ? 100l : std::atol(text), 1l, 4096l))
                       << 20;
    const std::string stem = (fs::temp_directory_path() / absl::StrCat("chakra_nsys_", getpid())).string();
    NsysOptions options;
    options.gpus = 8;
    options.layers = 48;
    options.steps = 4;
    const std::string probe = stem + ".probe";
    good_ = GenerateNsys(options, probe).ok();
    std::error_code error;
    const uint64_t per_step = std::max<uint64_t>(1, fs::file_size(probe, error) / 4);
    fs::remove(probe, error);
    options.steps = static_cast<int>(std::clamp<uint64_t>(bytes / per_step, 4, 1 << 20));
    path_ = stem + ".sqlite";
    good_ = good_ && GenerateNsys(options, path_).ok();
    bytes_ = fs::file_size(path_, error);
  }
  ~Generated() {
    std::error_code error;
    fs::remove(path_, error);
  }
  const std::string& path() const { return path_; }
  uint64_t bytes() const { return good_ ? bytes_ : 0; }

 private:
  std::string path_;
  uint64_t bytes_ = 0;
  bool good_ = false;
};

const Generated& File() {
  static const Generated file;
  return file;
}

// Walks all tables and reads each value.
bool Walk(const std::string& path) {
  sqlite3* db = nullptr;
  if (sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK)
    return false;
  std::vector<std::string> tables;
  sqlite3_stmt* s = nullptr;
  sqlite3_prepare_v2(db, "SELECT name FROM sqlite_master WHERE type = 'table'", -1, &s, nullptr);
  while (sqlite3_step(s) == SQLITE_ROW)
    tables.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(s, 0)));
  sqlite3_finalize(s);
  int64_t sum = 0;
  for (const std::string& table : tables) {
    sqlite3_prepare_v2(db, absl::StrCat("SELECT * FROM ", table).c_str(), -1, &s, nullptr);
    const int columns = sqlite3_column_count(s);
    while (sqlite3_step(s) == SQLITE_ROW) {
      for (int i = 0; i < columns; ++i)
        sum += sqlite3_column_bytes(s, i) > 0 ? sqlite3_column_int64(s, i) & 1 : 0;
    }
    sqlite3_finalize(s);
  }
  benchmark::DoNotOptimize(sum);
  return sqlite3_close(db) == SQLITE_OK;
}

bool ReadAllRows(const std::string& path, int threads) {
  const auto db = SqliteReader::Open(path, nsys::kExports);
  nsys::ReadWhat what;
  what.threads = threads;
  return db.ok() && nsys::ReadExport(**db, what).ok();
}

// Links two steps of the file and converts them to traces.
bool ConvertSteps(const std::string& path, int threads) {
  ReadOptions options;
  options.threads = threads;
  options.capture.steps = "1-2";
  auto capture = nsys::ReadExports({path}, options);
  return capture.ok() && pytorch::CaptureTraces(*std::move(capture), options).ok();
}

// Summarises the whole file, as `inspect` does.
bool InspectAll(const std::string& path, int threads) {
  ReadOptions options;
  options.threads = threads;
  options.digests = false;
  const auto traces = ReadTraceSet({path}, options);
  return traces.ok() && Inspect(*traces, threads).nodes() > 0;
}

bool WalkRows(const std::string& path, int /*threads*/) { return Walk(path); }

double CpuSeconds(const rusage& usage) {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

using Work = bool (*)(const std::string&, int);

bool InProcess(Work work, const std::string& path, int threads, rusage* usage) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) _exit(work(path, threads) ? 0 : 1);
  return child > 0 && wait4(child, &status, 0, usage) == child && status == 0;
}

// A process that reads the export from its file: 0 reads all rows; 1 makes traces of two steps; 2 makes
// traces of all and summarises them. Counters: wall time, CPU time and peak memory, and CPU time over that of
// SQLite's walk.
void NsysExport(benchmark::State& state) {
  constexpr Work kWork[] = {ReadAllRows, ConvertSteps, InspectAll};
  const uint64_t bytes = File().bytes();
  if (bytes == 0) return state.SkipWithError("no export can be written");
  std::vector<double> wall, ours, theirs, peak;
  for (auto _ : state) {
    rusage usage{}, reference{};
    bool done = false;
    wall.push_back(WallSecondsOf([&] {
      done = InProcess(kWork[state.range(0)], File().path(), static_cast<int>(state.range(1)), &usage);
    }));
    if (!done || !InProcess(WalkRows, File().path(), 1, &reference))
      return state.SkipWithError("the export was not read");
    ours.push_back(CpuSeconds(usage));
    theirs.push_back(CpuSeconds(reference));
    peak.push_back(static_cast<double>(usage.ru_maxrss) * 1024);  // KiB
    state.SetIterationTime(wall.back());
  }
  state.counters["file_MB"] = static_cast<double>(bytes) / 1e6;
  state.counters["MB/s"] = static_cast<double>(bytes) / 1e6 / Median(wall);
  state.counters["MB/cpu_s"] = static_cast<double>(bytes) / 1e6 / Median(ours);
  state.counters["peak_MB"] = Median(peak) / 1e6;
  state.counters["peak_of_file"] = Median(peak) / static_cast<double>(bytes);
  state.counters["x_sqlite_walk"] = Median(theirs) / Median(ours);
}

// With one thread, and with one for each core.
void Threads(benchmark::internal::Benchmark* b) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (const int what : {0, 1, 2}) {
    b->Args({what, 1});
    if (cores > 1) b->Args({what, cores});
  }
}

BENCHMARK(NsysExport)
    ->ArgNames({"what", "threads"})
    ->Apply(Threads)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace chakra
