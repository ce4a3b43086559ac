// One export in memory: its session, and its processes that used a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trace/import/nsys/process.h"
#include "trace/import/nsys/session.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::nsys {

inline constexpr SqliteFormat kExports = {
    .expected = "the export of `nsys export -t sqlite`", .program = "nsys", .remedy = "export it again"};

struct ReadWhat {
  std::string step_range;  // a pattern of NVTX ranges; kFoundSteps; "": ranges with the names of steps
  std::string steps;       // the steps to read, as in --steps; "" or "all": the whole recording
  int threads = 1;         // number of tables that are read in parallel; has no influence on the result
};

// The value of --step-range that asks for the repeating pattern of kernels.
inline constexpr absl::string_view kFoundSteps = "pattern";

struct ExportFile {
  Session session;
  Strings strings;
  std::vector<std::unique_ptr<Process>> processes;  // sorted by id; only those with operations on a device
  uint64_t idle_processes = 0;     // number of processes that called CUDA but ran nothing on a device
  bool nvtx = false, api = false;  // whether the file has these tables
  uint64_t mpi_calls = 0;          // calls by processes with operations on a device
};

// Reads what replays need. If `what.steps` names steps that NVTX ranges mark, only these steps are kept in
// memory. The rows of processes are packed: FinishRows() unpacks them. DeviceTrace::base_ns makes times count
// from the epoch, where the file records its start time. Errors name the file, and the table at fault: the
// file is no export, a table is a view or is damaged, no device ran any operation, or the steps are not in
// the file.
absl::StatusOr<std::unique_ptr<ExportFile>> ReadExport(const SqliteReader& db, const ReadWhat& what);

}  // namespace chakra::nsys
