// Merges several jobs on one machine: their traces become one set.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/report.pb.h"
#include "replay/cluster/variation.h"
#include "replay/engine/measure/metrics.h"
#include "trace/model/trace.h"

namespace chakra {

struct Job {
  std::string name;   // "job0", "job1", ...
  std::string input;  // the source of its traces, for the report
  int first_rank = 0;
  int ranks = 0;
  Time start;
};

struct JobInput {
  std::string input;
  TraceSet traces;
  Time start;
};

// "TRACE" or "TRACE@START". START is a time with its unit ("10us"), at most a million seconds. The text after
// the last @ is a time if it begins with a digit and has no '/'. Errors: no trace, a number without a unit, a
// time that is too long.
struct JobSpec {
  std::string trace;
  Time start;
};
absl::StatusOr<JobSpec> ParseJob(absl::string_view text);

// Merges the jobs: the ranks of each job follow those of the previous job. Groups are renamed ("job1/NAME")
// and stay within their job; the group "job1" has all ranks of the job. Ranks that a job names but has no
// trace of stay without one. `jobs` describes the jobs. Errors: no jobs, or more ranks than int32 holds.
absl::StatusOr<TraceSet> MergeJobs(std::vector<JobInput> inputs, std::vector<Job>* jobs);

// Resolves the involved_dim of calls on all ranks of a job. For a set of one job the engine does this
// (EngineOptions::dimension_sizes); in a merged set, the engine's groups would span jobs. The groups are
// those that the job would have alone on such a machine, from its first device on: ranks of the job that
// differ only in dimensions that take part ("job1:dims:1:0@0"). `traces` must be the unchanged result of
// MergeJobs().
void ResolveJobDimensions(const std::vector<Job>& jobs, const std::vector<int>& dimension_sizes,
                          TraceSet* traces);

// The start time of each rank: its job's start plus its own delay. Empty: all start at 0.
std::vector<Time> RankStarts(const std::vector<Job>& jobs, const Variation& variation = {});

std::vector<proto::JobReport> ReportJobs(const std::vector<Job>& jobs, const Metrics& metrics);

}  // namespace chakra
