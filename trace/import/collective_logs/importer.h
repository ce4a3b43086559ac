// The importer of logs of collective calls, for trace/import/registry.h.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/importer.h"
#include "trace/import/collective_logs/join.h"

namespace chakra::collective_logs {

extern const Importer kImporter;

// Whether a file that begins with `head` is a log of calls.
bool LooksLikeCallLog(absl::string_view head);

// Reads and joins the logs in `inputs` (files, folders, tar archives). `files`, if not null, gets the files
// that were read; `format` gets the recorder: "nccl_inspector", "nccl_profiler", "flight_recorder" or
// "nccl_debug". Errors: those of the readers and of JoinRanks(); logs of different recorders; no log.
absl::StatusOr<JoinedLogs> ReadLogs(const std::vector<std::string>& inputs, const ReadOptions& options,
                                    std::vector<InputFile>* files, std::string* format);

// Reads the logs in the content of one file.
absl::Status ReadLog(absl::string_view content, absl::string_view file, std::vector<RankLog>* out);

}  // namespace chakra::collective_logs
