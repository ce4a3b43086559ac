// Dumps of PyTorch's Flight Recorder: the last calls of one rank's process groups.
//
// The layout is that of torch/csrc/distributed/c10d/FlightRecorder.hpp and FlightRecorderDetail.hpp, dump
// version 2.x: {"version", "pg_config": {NAME: {"name", "desc", "ranks": "[0, 1]"}}, "entries": [...], ...},
// as a pickle or as JSON. A file holds a rank and does not say which: its name does, by the number at its
// end.
//
// Times. The host's clock says when a call was made (time_created_ns), and when the watchdog found it ended
// (time_discovered_completed_ns), late by as much as its period. duration_ms, where TORCH_NCCL_ENABLE_TIMING
// was set, is measured on the stream. A call begins when it was made, or when the call before it on its group
// ended, whichever is later, yet no later than its discovered end less its duration. Without duration_ms it
// lasts until it was discovered.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/collective_logs/call_log.h"

namespace chakra::collective_logs {

bool LooksLikeFlightRecorder(absl::string_view head);

// Whether a file is named as a dump is: without an ending, a number at its end ("nccl_trace_rank_7").
bool NamedAsFlightRecorder(absl::string_view name);

// Errors name file, entry and field: those of ReadPickle(), an unknown version, a field that is missing or of
// another kind, a time or size out of range, a group without its own rank, a name without a rank.
absl::StatusOr<RankLog> ReadFlightRecorder(absl::string_view content, absl::string_view file);

}  // namespace chakra::collective_logs
