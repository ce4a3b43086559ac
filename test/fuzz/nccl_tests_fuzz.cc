// Logs and tables of nccl-tests and rccl-tests: any bytes give measurements
// that can be used, or an error that says where.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "replay/calibrate/nccl_tests.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"

FUZZ_TARGET(nccl_tests_fuzz, data, size) {
  using chakra::fuzz::Require;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto run = chakra::ReadNcclTests(text, "all_gather.log");
  if (!run.ok()) {
    Require(absl::StrContains(run.status().message(), "all_gather.log:"), "an error names the file");
    return 0;
  }
  Require(!run->rows.empty(), "without rows there is an error");
  for (const chakra::MeasuredRow& row : run->rows) {
    Require(row.ranks >= 2 && row.nodes >= 0 && row.nodes <= row.ranks, "ranks and nodes are plausible");
    Require(row.bytes > 0 && row.channels >= 0, "bytes were moved");
    Require(std::isfinite(row.time_us) && row.time_us > 0, "a time is above 0");
    Require(row.line >= 1 && static_cast<size_t>(row.line) <= size, "a row has its line");
  }
  return 0;
}
