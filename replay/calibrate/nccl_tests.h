// Reads the measurements that nccl-tests and rccl-tests print.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// One measured collective: the out-of-place or the in-place half of a printed row.
struct MeasuredRow {
  CollectiveType type = CollectiveType::kAllReduce;
  int ranks = 0;  // >= 2
  int nodes = 0;  // 0: not in the file
  // The larger of a rank's input and output, as in nccl-tests.
  uint64_t bytes = 0;
  double time_us = 0;  // microseconds, > 0
  bool in_place = false;
  std::string dtype, redop;         // as printed: "float", "sum"; empty: not in the file
  std::string algorithm, protocol;  // as printed; empty: not in the file
  int channels = 0;                 // 0: not in the file
  int devices_per_thread = 0;       // devices that one host thread launches on (-g); 0: not in the file
  std::string device;               // "NVIDIA H100 80GB HBM3"
  std::string file;
  int line = 0;  // from 1
};

struct MeasuredRun {
  std::vector<MeasuredRow> rows;
  // Skipped rows and assumptions, each with file and line.
  std::vector<std::string> warnings;
  // From the first run of the file that contains the value; empty or 0 if no run does.
  std::string library_version, device_name;
  int gpus_per_process = 0, processes = 0;
};

// Whether the text has a column of nccl-tests' bus bandwidth. All forms for ReadNcclTests() that these
// programs write have it.
bool LooksLikeNcclTests(absl::string_view text);

// Reads a log or table of measurements. `path` names it in messages, and gives the collective if the text
// does not. The form is detected from the text:
//   - the output of nccl-tests (1.0 to 2.19) and rccl-tests, also with the output of other programs in
//     between, and several runs in one file;
//   - JSON of nccl-tests -J; CSV and JSON lines of rccl-tests -x;
//   - CSV with a header, of `chakra-replay collective --format csv` (collective, ranks, bytes, time_us, ...),
//     or with gpus and size_bytes for ranks and bytes.
// The number of ranks comes from the device lines and is checked against busbw / algbw, which decides if the
// two differ. The collective comes from the start line, the command or the file name, or else from the
// columns. Rows that are cut, mixed with other output or inconsistent with their own bandwidth are dropped
// with a warning. So are rows of sendrecv, hypercube and alltoallv, which are not collectives here.
//
// Errors (InvalidArgument): no usable row; a run whose collective or number of ranks cannot be determined; a
// wrong field of a table; broken JSON. Each names file, line and what was expected.
absl::StatusOr<MeasuredRun> ReadNcclTests(absl::string_view text, const std::string& path);

}  // namespace chakra
