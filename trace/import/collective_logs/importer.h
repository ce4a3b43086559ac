// Logs of collective calls among the formats of trace/import/registry.h.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/importer.h"
#include "trace/import/collective_logs/join.h"

namespace chakra::collective_logs {

extern const Importer kImporter;

// Whether `head`, the first bytes of a file's content, is of a log of calls.
bool LooksLikeCallLog(absl::string_view head);

// The logs that inputs (files, folders, tar archives) hold, brought together. `files`, if not null, gets what
// was read; `format` the recorder: "nccl_inspector", "nccl_profiler" or "flight_recorder". Errors: those of
// the readers and of JoinRanks(); logs of different recorders; no log.
absl::StatusOr<JoinedLogs> ReadLogs(const std::vector<std::string>& inputs, const ReadOptions& options,
                                    std::vector<InputFile>* files, std::string* format);

// The logs of one file's content, for whoever has it in memory.
absl::Status ReadLog(absl::string_view content, absl::string_view file, std::vector<RankLog>* out);

}  // namespace chakra::collective_logs
