// Reads dumps of PyTorch's Flight Recorder: the last calls on one rank's process groups.
//
// The layout is that of torch/csrc/distributed/c10d/FlightRecorder.hpp and FlightRecorderDetail.hpp, dump
// version 2.x: {"version", "pg_config": {NAME: {"name", "desc", "ranks": "[0, 1]"}}, "entries": [...], ...},
// as a pickle or as JSON. A file has the calls of one rank but not its number: the number is at the end of
// the file's name.
//
// Times. The host's clock gives when a call was made (time_created_ns), and when the watchdog found that it
// had ended (time_discovered_completed_ns), late by up to the watchdog's period. duration_ms is measured on
// the stream, if TORCH_NCCL_ENABLE_TIMING was set. A call begins when it was made, or when the call before it
// on its group ended, whichever is later, but no later than its discovered end minus its duration. Without
// duration_ms, a call lasts until its end was discovered.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/collective_logs/call_log.h"

namespace chakra::collective_logs {

bool LooksLikeFlightRecorder(absl::string_view head);

// Whether a file has the name of a dump: without an ending, with a number at its end ("nccl_trace_rank_7").
bool NamedAsFlightRecorder(absl::string_view name);

// Reads a dump. Errors name file, entry and field: those of ReadPickle(); an unknown version; a field is
// missing or of another kind; a time or size is out of range; a group does not have the rank; the file's name
// has no rank.
absl::StatusOr<RankLog> ReadFlightRecorder(absl::string_view content, absl::string_view file);

}  // namespace chakra::collective_logs
