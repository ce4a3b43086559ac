#include "replay/run/traces.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "replay/run/symmetric.h"
#include "trace/base/checksum.h"
#include "trace/base/status_macros.h"
#include "trace/et/read_options.h"
#include "trace/import/reader.h"
#include "trace/io/file.h"

namespace chakra {
namespace {

absl::Status Read(const TraceOptions& options, LoadedTraces* out) {
  ReadOptions read = options.read;
  read.ranks = options.ranks;
  if (options.edits == nullptr) {
    if (options.keep_symmetric && options.ranks == 0 && options.jobs.empty())
      read.symmetric = &out->symmetric;
    auto traces = ReadTraceSet(options.inputs, read);
    if (traces.ok()) out->set = *std::move(traces);
    return traces.status();
  }
  edit::EditRun run(options.edits, options.edits_keep_lanes);
  ASSIGN_OR_RETURN(auto traces, edit::ReadEdited(options.inputs, read, *options.edits, &run));
  ASSIGN_OR_RETURN(out->edits, run.Finish());
  out->set = std::move(traces);
  return absl::OkStatus();
}

// Reads the other jobs and appends them to the first.
absl::Status AddJobs(const TraceOptions& options, LoadedTraces* out) {
  std::vector<JobInput> inputs;
  inputs.push_back({absl::StrJoin(options.inputs, " "), std::move(out->set), Time::Zero()});
  ReadOptions own = options.read;  // --groups and the selection of a capture apply only to the first job
  own.groups_file.clear();
  own.capture = CaptureSelection();
  for (const std::string& text : options.jobs) {
    ASSIGN_OR_RETURN(const JobSpec spec, ParseJob(text));
    ASSIGN_OR_RETURN(TraceSet traces, ReadTraceSet({spec.trace}, own));
    if (options.ranks > 0 && traces.ranks.size() == 1) {
      RETURN_IF_ERROR(MakeSymmetric(options.ranks, &traces));
    }
    inputs.push_back({spec.trace, std::move(traces), spec.start});
  }
  auto merged = MergeJobs(std::move(inputs), &out->jobs);
  if (merged.ok()) out->set = *std::move(merged);
  return merged.status();
}

}  // namespace

bool LoadedTraces::HasTimes() const {
  return !captures.empty() && std::all_of(captures.begin(), captures.end(), [](const auto& capture) {
    return capture.has_value() && capture->window_end > Time::Zero();
  });
}

absl::StatusOr<InputFile> DescribeInput(const std::string& path, const std::string& role) {
  ASSIGN_OR_RETURN(auto content, ReadFileAsItIs(path));
  return InputFile{path, Sha256Hex(content), content.size(), role};
}

absl::Status FindCaptures(LoadedTraces* traces) {
  for (const RankTrace& trace : traces->set.ranks) {
    ASSIGN_OR_RETURN(auto capture, ReadCaptureInfo(trace));
    if (traces->captures.empty() && !capture.has_value()) break;
    // Shares the steps with the previous rank if they are equal, which is usual for ranks that do the same
    // work.
    if (!traces->captures.empty() && capture.has_value() && traces->captures.back().has_value() &&
        capture->steps == traces->captures.back()->steps)
      capture->steps = traces->captures.back()->steps;
    traces->captures.push_back(std::move(capture));
  }
  return absl::OkStatus();
}

absl::StatusOr<LoadedTraces> LoadTraces(const TraceOptions& options) {
  LoadedTraces out;
  RETURN_IF_ERROR(Read(options, &out));
  const bool made = options.ranks > 1 && out.set.ranks.size() == static_cast<size_t>(options.ranks) &&
                    options.replicas.empty();  // the reader made all ranks of a program on several devices
  if (options.ranks > 0 && !made) {
    std::vector<Replicas> replicas;
    for (const std::string& text : options.replicas) {
      ASSIGN_OR_RETURN(Replicas one, ParseReplicas(text));
      replicas.push_back(std::move(one));
    }
    RETURN_IF_ERROR(MakeSymmetric(options.ranks, &out.set, replicas));
    if (options.keep_symmetric && options.jobs.empty()) out.symmetric = FindSymmetricRanks(out.set);
  }
  if (!options.jobs.empty()) {
    RETURN_IF_ERROR(AddJobs(options, &out));
  }
  for (const std::string& file : options.edit_files) {
    ASSIGN_OR_RETURN(auto input, DescribeInput(file, "edits"));
    out.edit_files.push_back(std::move(input));
  }
  RETURN_IF_ERROR(FindCaptures(&out));
  return out;
}

}  // namespace chakra
