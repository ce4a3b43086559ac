// Reads logs of NCCL's Inspector, a profiler plugin: one JSON object for each call that ended. An object has
// one line, or several lines after a formatter.
//
// The layout is that of plugins/profiler/inspector/inspector_json.cc in NCCL: "header" (communicator),
// "metadata" (format v4.x, host, process) and "coll_perf", "p2p_perf" or "dump_stats". coll_msg_size_bytes is
// the count of the API call times the size of its type. A call's time is that of its longest channel on this
// rank, in whole microseconds. Only verbose logs (NCCL_INSPECTOR_DUMP_VERBOSE=1) have the begin of a call:
// event_trace_ts has the host's call and each channel's kernel, in microseconds since the epoch.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/collective_logs/call_log.h"

namespace chakra::collective_logs {

bool LooksLikeInspector(absl::string_view head);

// Reads the log of a process: one rank, or several if the process drives several devices. `content` is
// followed by simdjson::SIMDJSON_PADDING readable bytes. A last line that is cut short is dropped, with a
// note. Errors name file, line and field: a line is not JSON; an unknown version; a field is missing or out
// of range; the groups of a process do not show which of its ranks made a call.
absl::Status ReadInspector(absl::string_view content, absl::string_view file, std::vector<RankLog>* out);

}  // namespace chakra::collective_logs
