// Logs and tables of nccl-tests, rccl-tests, OSU's micro-benchmarks and perftest: any bytes give usable
// measurements or an error with a place.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "replay/calibrate/micro_benchmarks.h"
#include "replay/calibrate/nccl_tests.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"

namespace {

using chakra::fuzz::Require;

void CheckRow(const chakra::MeasuredRow& row, size_t size) {
  Require(row.ranks >= 2 && row.nodes >= 0 && row.nodes <= row.ranks, "ranks and nodes are plausible");
  Require(row.bytes > 0 && row.channels >= 0, "bytes were moved");
  Require(std::isfinite(row.time_us) && row.time_us > 0, "a time is above 0");
  Require(row.line >= 1 && static_cast<size_t>(row.line) <= size, "a row has its line");
}

void CheckMicro(absl::string_view text, int ranks) {
  const auto run = chakra::ReadMicroBenchmarks(text, "osu.log", ranks);
  if (!run.ok()) {
    Require(absl::StrContains(run.status().message(), "osu.log:"), "an error names the file");
    return;
  }
  Require(!run->rows.empty() || !run->points.empty(), "without rows there is an error");
  for (const chakra::MeasuredRow& row : run->rows) CheckRow(row, text.size());
  for (const chakra::PointRow& row : run->points) {
    Require(std::isfinite(row.latency_us) && std::isfinite(row.gbytes_per_s), "figures are numbers");
    Require((row.latency_us > 0) != (row.gbytes_per_s > 0), "a point is a time or a rate");
    Require(row.line >= 1 && static_cast<size_t>(row.line) <= text.size(), "a point has its line");
  }
}

}  // namespace

FUZZ_TARGET(nccl_tests_fuzz, data, size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  if (chakra::LooksLikeMicroBenchmark(text)) {
    for (const int ranks : {0, 8}) CheckMicro(text, ranks);
  }
  const auto run = chakra::ReadNcclTests(text, "all_gather.log");
  if (!run.ok()) {
    Require(absl::StrContains(run.status().message(), "all_gather.log:"), "an error names the file");
    return 0;
  }
  Require(!run->rows.empty(), "without rows there is an error");
  for (const chakra::MeasuredRow& row : run->rows) CheckRow(row, size);
  return 0;
}
