// What ran on the host: calls of CUDA, and the ranges of NVTX: operators, NCCL's calls, the user's marks.
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

// Whether a range's text is the name of a call of NCCL: "ncclAllReduce", but not "nccl:all_reduce", which is
// PyTorch's.
bool IsNcclCall(absl::string_view text);

// Adds what a range of NCCL tells: the place in a communicator, or a call, whose row of DeviceTrace::comms it
// gives. kNoRow: the call moves no data. `payload`: as the file has it; empty: none.
uint32_t AddNcclCall(absl::string_view text, absl::string_view payload, const NcclSchemas& schemas,
                     Process* process);

// Adds the calls of the runtime's and the driver's interface that touch the window, and their processes.
absl::Status ReadApiRows(const SqliteReader& db, const Window& window, Processes* processes);

// Adds the calls of MPI that touch the window, of processes that are there, with the times that they took;
// their number goes to `calls`.
absl::Status ReadMpiRows(const SqliteReader& db, const Window& window, Processes* processes, uint64_t* calls);

// Adds the ranges that touch the window, of processes that are there. Ranges that may be steps go to `steps`
// too.
absl::Status ReadNvtxRows(const SqliteReader& db, const Window& window, const Strings& strings,
                          const NcclSchemas& schemas, Processes* processes, StepRanges* steps);

// The ranges that may be steps, and no others.
absl::Status ReadStepRows(const SqliteReader& db, const Strings& strings, const Session& session,
                          StepRanges* steps);

// Where processes are in which communicators, from the whole recording: most are made long before a window.
absl::Status ReadMembers(const SqliteReader& db, const Strings& strings, const NcclSchemas& schemas,
                         Processes* processes);

// Names the threads that are there.
absl::Status ReadThreadNames(const SqliteReader& db, const Strings& strings, Processes* processes);

}  // namespace chakra::nsys
