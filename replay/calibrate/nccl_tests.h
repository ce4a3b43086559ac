// Reads the measurements that nccl-tests and rccl-tests print.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// One measured collective: one half, out-of-place or in-place, of a printed row.
struct MeasuredRow {
  CollectiveType type = CollectiveType::kAllReduce;
  int ranks = 0;  // >= 2
  int nodes = 0;  // 0: the file does not say
  // As nccl-tests counts: the larger of a rank's input and output.
  uint64_t bytes = 0;
  double time_us = 0;  // microseconds, > 0
  bool in_place = false;
  std::string dtype, redop;         // as printed: "float", "sum"; empty: the file does not say
  std::string algorithm, protocol;  // as printed; empty: the file does not say
  int channels = 0;                 // 0: the file does not say
  int devices_per_thread = 0;       // that one host thread launches on (-g); 0: the file does not say
  std::string device;               // "NVIDIA H100 80GB HBM3"
  std::string file;
  int line = 0;  // from 1
};

struct MeasuredRun {
  std::vector<MeasuredRow> rows;
  // What was left out or assumed, each with file and line.
  std::vector<std::string> warnings;
  // Of the first run of the file that says it; empty or 0 if none does.
  std::string library_version, device_name;
  int gpus_per_process = 0, processes = 0;
};

// Reads a log or table of measurements; `path` names it in messages, and the
// collective where nothing in the text does. The form is found from the text:
//   - what nccl-tests (1.0 to 2.19) and rccl-tests print, also with the output
//     of other programs between, and several runs in one file;
//   - JSON of nccl-tests -J; CSV and JSON lines of rccl-tests -x;
//   - CSV with a header, of `chakra-replay collective --format csv` (collective,
//     ranks, bytes, time_us, ...) or with gpus and size_bytes for the latter.
// Number of ranks: from the device lines, checked against busbw / algbw, which
// decides where the two differ. Collective: start line, command, file name, or
// else what the columns allow. A row of text that is cut, mixed with other
// output or at odds with its own bandwidth is dropped with a warning, and so
// are sendrecv, hypercube and alltoallv, which are no collectives here.
//
// Errors (InvalidArgument): no usable row; a run whose collective or number of
// ranks cannot be told; a wrong field of a table; broken JSON. Each names file,
// line and what was expected.
absl::StatusOr<MeasuredRun> ReadNcclTests(absl::string_view text, const std::string& path);

}  // namespace chakra
