// One export, read: its session, and its processes that used a GPU.
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
  std::string step_range;  // a pattern of NVTX ranges; kFoundSteps; "": by their names
  std::string steps;       // which of them, as --steps has it; "" or "all": the whole recording
  int threads = 1;         // tables that are read at once; what is read does not depend on it
};

// The value of --step-range that asks for the repeating pattern of kernels.
inline constexpr absl::string_view kFoundSteps = "pattern";

struct ExportFile {
  Session session;
  Strings strings;
  std::vector<std::unique_ptr<Process>> processes;  // by id; those with operations of a device
  uint64_t idle_processes = 0;                      // that called CUDA, and ran nothing on a device
  bool nvtx = false, api = false;                   // whether the tables are there
  uint64_t mpi_calls = 0;                           // of processes with operations of a device
};

// Reads what replays need. Where `what.steps` names steps that NVTX ranges mark, only these are kept in
// memory. Rows of processes are packed: FinishRows() unpacks them. Their times count from the epoch where the
// file tells it. Errors name the file,
// and the table at fault: what is no export, a table that is a view or is damaged, no operation of a device
// at all, steps that are not in it.
absl::StatusOr<std::unique_ptr<ExportFile>> ReadExport(const SqliteReader& db, const ReadWhat& what);

}  // namespace chakra::nsys
