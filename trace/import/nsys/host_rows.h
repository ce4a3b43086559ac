// Reads what ran on the host: calls of CUDA and MPI, and the ranges of NVTX: operators, calls of NCCL, marks
// of the user.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/step_ranges.h"
#include "trace/import/nsys/nccl_payload.h"
#include "trace/import/nsys/process.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::nsys {

using pytorch::StepRange;
using pytorch::StepRanges;

// Whether a range's text is the name of an NCCL call: "ncclAllReduce" is; "nccl:all_reduce", a name of
// PyTorch, is not.
bool IsNcclCall(absl::string_view text);

// Adds what an NCCL range records: a rank's place in a communicator, or a call. Returns the call's row in
// DeviceTrace::comms; kNoRow: the call moves no data. `payload`: the bytes in the file; may be empty.
uint32_t AddNcclCall(absl::string_view text, absl::string_view payload, const NcclSchemas& schemas,
                     Process* process);

// Adds the calls of the CUDA runtime and driver API that touch the window, and the processes that made them.
absl::Status ReadApiRows(const SqliteReader& db, const Window& window, Processes* processes);

// Adds the MPI calls that touch the window, with their recorded durations. Skips processes that are not in
// `processes`. Adds the number of the calls to `calls`.
absl::Status ReadMpiRows(const SqliteReader& db, const Window& window, Processes* processes, uint64_t* calls);

// Adds the NVTX ranges that touch the window. Skips processes that are not in `processes`. Ranges that may be
// steps are added to `steps` too.
absl::Status ReadNvtxRows(const SqliteReader& db, const Window& window, const Strings& strings,
                          const NcclSchemas& schemas, Processes* processes, StepRanges* steps);

// Adds only the ranges that may be steps.
absl::Status ReadStepRows(const SqliteReader& db, const Strings& strings, const Session& session,
                          StepRanges* steps);

// Adds the places of processes in communicators, from the whole recording: most communicators are made long
// before a window.
absl::Status ReadMembers(const SqliteReader& db, const Strings& strings, const NcclSchemas& schemas,
                         Processes* processes);

// Sets the names of the threads that `processes` has.
absl::Status ReadThreadNames(const SqliteReader& db, const Strings& strings, Processes* processes);

}  // namespace chakra::nsys
