// Loads the traces of a run: reads, edits, multiplies and merges them.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/edit.pb.h"
#include "replay/run/jobs.h"
#include "replay/run/options.h"
#include "trace/model/capture_info.h"
#include "trace/model/symmetric_ranks.h"
#include "trace/model/trace.h"

namespace chakra {

// Traces as loaded. Runs do not change them, so that any number of runs may share them at the same time.
struct LoadedTraces {
  TraceSet set;
  std::vector<Job> jobs;                             // empty: a single job
  std::vector<std::optional<CaptureInfo>> captures;  // by rank; empty: the traces are not a capture
  std::optional<proto::EditReport> edits;            // outcome of the edits
  std::vector<InputFile> edit_files;
  SymmetricRanks symmetric;  // symmetric ranks; only with TraceOptions::keep_symmetric

  // Whether the traces are a capture with times. Host traces alone have no times.
  bool HasTimes() const;
};

// Errors: those of ReadTraceSet(), edit::ReadEdited(), MakeSymmetric() and MergeJobs().
absl::StatusOr<LoadedTraces> LoadTraces(const TraceOptions& options);

// Fills `captures` from the metadata of `set`. Errors: those of ReadCaptureInfo().
absl::Status FindCaptures(LoadedTraces* traces);

// Describes a file that a run reads in addition to the traces.
absl::StatusOr<InputFile> DescribeInput(const std::string& path, const std::string& role);

}  // namespace chakra
