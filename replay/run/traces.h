// Traces as a run takes them: read, edited, multiplied and merged.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/edit.pb.h"
#include "replay/run/jobs.h"
#include "replay/run/options.h"
#include "trace/model/capture_info.h"
#include "trace/model/trace.h"
#include "trace/model/twins.h"

namespace chakra {

// Not changed by runs: any number may share it, at once.
struct LoadedTraces {
  TraceSet set;
  std::vector<Job> jobs;                             // empty: one
  std::vector<std::optional<CaptureInfo>> captures;  // by rank; empty: no capture
  std::optional<proto::EditReport> edits;            // what was edited
  std::vector<InputFile> edit_files;
  Twins twins;  // with TraceOptions::keep_twins

  // Whether the traces are a capture with times; host traces alone have none.
  bool HasTimes() const;
};

// Errors: as ReadTraceSet(), edit::ReadEdited(), MakeSymmetric() and MergeJobs().
absl::StatusOr<LoadedTraces> LoadTraces(const TraceOptions& options);

// Fills `captures` by the metadata of `set`. Errors: those of ReadCaptureInfo().
absl::Status FindCaptures(LoadedTraces* traces);

// A file that a run reads beside the traces.
absl::StatusOr<InputFile> DescribeInput(const std::string& path, const std::string& role);

}  // namespace chakra
