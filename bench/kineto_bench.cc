// The Kineto reader on a generated capture, against simdjson's plain DOM parse
// of the same text. CHAKRA_CAPTURE_MB sets the size (default 100, up to 1024).
#include <benchmark/benchmark.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/capture_generator.h"
#include "bench/measure.h"
#include "trace/et/read_options.h"
#include "trace/import/kineto/kineto.h"
#include "trace/import/linked/linker.h"
#include "trace/import/pytorch/read_capture.h"
#include "trace/io/byte_source.h"

namespace chakra {
namespace {

uint64_t CaptureBytes() {
  const char* text = std::getenv("CHAKRA_CAPTURE_MB");
  const long mb = text == nullptr ? 100 : std::atol(text);
  return static_cast<uint64_t>(std::clamp(mb, 1l, 1024l)) << 20;
}

void ReadGenerated(benchmark::State& state) {
  CaptureOptions options;
  options.bytes = CaptureBytes();
  options.python_functions = state.range(0) != 0;
  const std::string text = GenerateKineto(options);
  std::vector<double> ours, theirs;
  uint64_t events = 0;
  for (auto _ : state) {
    ours.push_back(SecondsOf([&] {
      MemorySource source(text);
      const auto trace = pytorch::ReadKineto(&source, "generated");
      if (trace.ok()) events = trace->events.size();
    }));
    state.SetIterationTime(ours.back());
  }
  if (events == 0) return state.SkipWithError("the capture was not read");
  for (size_t i = 0; i < ours.size(); ++i) {
    theirs.push_back(SecondsOf([&] {
      simdjson::dom::parser parser;
      simdjson::dom::element root;
      const auto error = parser.parse(text.data(), text.size(), true).get(root);
      benchmark::DoNotOptimize(error);
    }));
  }
  state.counters["MB"] = static_cast<double>(text.size()) / 1e6;
  state.counters["events/s"] = static_cast<double>(events) / Median(ours);
  state.counters["MB/s"] = static_cast<double>(text.size()) / 1e6 / Median(ours);
  state.counters["x_simdjson_dom"] = Median(theirs) / Median(ours);
}

// Writes the capture to `file`; returns its size, 0 after an error.
uint64_t WriteGenerated(std::FILE* file) {
  CaptureOptions options;
  options.bytes = CaptureBytes();
  const std::string text = GenerateKineto(options);
  const bool written =
      std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  return written ? text.size() : 0;
}

bool ReadFrom(const std::string& path) {
  auto file = FileSource::Open(path);
  return file.ok() && pytorch::ReadKineto(file->get(), path).ok();
}

// Reads and links the file, and writes Chakra frames to a temporary file.
bool ConvertFrom(const std::string& path) {
  ReadOptions options;
  options.capture.device = path;
  auto capture = pytorch::ReadCapture({}, options);
  if (!capture.ok()) return false;
  const auto out = std::filesystem::temp_directory_path() / absl::StrCat("chakra_kineto_bench_", getpid());
  const bool written = pytorch::WriteCapture(*std::move(capture), out.string(), "").ok();
  std::filesystem::remove(out.string() + ".0.et");
  return written;
}

double CpuSeconds(const rusage& usage) {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Runs `work` on the file in its own process and gives its usage; false if it failed.
bool Measure(bool (*work)(const std::string&), const std::string& path, rusage* usage) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) _exit(work(path) ? 0 : 1);
  return child > 0 && wait4(child, &status, 0, usage) == child && status == 0;
}

bool DomParse(const std::string& path) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  return parser.load(path).get(root) == simdjson::SUCCESS;
}

// CPU time and peak memory of a process that reads the capture from a file, over
// the file's size and over simdjson's DOM for the same file.
void WholeFile(benchmark::State& state) {
  std::FILE* file = std::tmpfile();
  const uint64_t bytes = file == nullptr ? 0 : WriteGenerated(file);
  if (bytes == 0) return state.SkipWithError("no temporary file can be written");
  const std::string path = "/proc/self/fd/" + std::to_string(fileno(file));
  std::vector<double> ours, theirs, peak;
  for (auto _ : state) {
    rusage usage{}, reference{};
    if (!Measure(state.range(0) != 0 ? ConvertFrom : ReadFrom, path, &usage) ||
        !Measure(DomParse, path, &reference)) {
      return state.SkipWithError("the capture was not read");
    }
    ours.push_back(CpuSeconds(usage));
    theirs.push_back(CpuSeconds(reference));
    peak.push_back(static_cast<double>(usage.ru_maxrss) * 1024);  // KiB
    state.SetIterationTime(ours.back());
  }
  std::fclose(file);
  state.counters["file_MB"] = static_cast<double>(bytes) / 1e6;
  state.counters["MB/s"] = static_cast<double>(bytes) / 1e6 / Median(ours);
  state.counters["peak_MB"] = Median(peak) / 1e6;
  state.counters["peak_of_file"] = Median(peak) / static_cast<double>(bytes);
  state.counters["x_simdjson_dom"] = Median(theirs) / Median(ours);
}

constexpr auto kMs = benchmark::kMillisecond;
BENCHMARK(ReadGenerated)->ArgName("python")->Arg(0)->Arg(1)->UseManualTime()->Unit(kMs)->Iterations(5);
BENCHMARK(WholeFile)->ArgName("convert")->Arg(0)->Arg(1)->UseManualTime()->Unit(kMs)->Iterations(3);

}  // namespace
}  // namespace chakra
