// Reads the output of the example of NCCL's profiler plugins: Chrome's JSON, one file for each communicator
// and rank.
//
// The layout is that of plugins/profiler/example/print_event.cc in NCCL: pairs of events, "ph" b and e, each
// inside the event that caused it. COLL has SeqNum, CommHash, Rank, Count, Datatype; P2P has CommHash, Rank,
// Peer, Count, Datatype; the COLL_API around a COLL has the root. Times are microseconds since the process
// started its plugin: each process has its own clock. A call lasts from the first to the last of its KernelCh
// events, which the device measured. Without such events, it lasts from its own b to its e, which the host
// measured.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/collective_logs/call_log.h"

namespace chakra::collective_logs {

bool LooksLikeProfilerPlugin(absl::string_view head);

// Reads the calls of a file; RankLog::process is its process. If a file ends inside an event or a call, its
// calls up to there are read, with a note. Errors name file, byte and field.
absl::StatusOr<RankLog> ReadProfilerPlugin(absl::string_view content, absl::string_view file);

}  // namespace chakra::collective_logs
