// Turns the graphs of stages into traces: files, or the trace model in memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trace/et/read_options.h"
#include "trace/generate/stage.h"
#include "trace/io/whole_folder.h"
#include "trace/model/trace.h"

namespace chakra::generate {

// `threads`: number of stages that are built at once. Errors: those of BuildStage().
absl::StatusOr<StepGraphs> BuildStep(const StepPlan& plan, int threads = 1);

// The groups of more than one rank that nodes name, for all ranks.
Groups GroupsOf(const StepGraphs& step);

// Writes FOLDER/workload.RANK.et.zst for each of `ranks` (empty: all), and FOLDER/workload.json with the
// groups, where readers of traces find it. Creates the folder. `threads`: number of files that are written at
// once. The same step gives the same bytes. All files appear together: they replace an earlier step (empty
// `ranks`), or are added to its other ranks. `whole`, if not null, has them until then. When it returns, the
// system may not have put all bytes on the disk yet. Errors name the path, or the rank that does not exist.
absl::Status WriteStep(const StepGraphs& step, const std::string& folder, const std::vector<int>& ranks,
                       int threads, WholeFolder* whole = nullptr);

// Writes only the trace of each stage's first rank, named as by WriteStep(), and FOLDER/workload.ranks.json
// (proto/rank_index.proto), from which readers make the traces of all ranks. Errors name the path. It is an
// error if the folder has traces that this step does not write.
absl::Status WriteSharedStep(const StepGraphs& step, const std::string& folder, int threads,
                             WholeFolder* whole = nullptr);

// The traces that WriteStep() writes, in memory. Ranks of a stage share one graph. `name`: the name of the
// input, for messages. With ReadOptions::symmetric, only one rank of each stage, or of each stage and number
// in a ring of cp, has peers.
absl::StatusOr<TraceSet> TracesOf(const StepGraphs& step, const std::string& name,
                                  const ReadOptions& options);

// The step from which TracesOf() or WriteStep() made the traces; they put the workload into the metadata of
// each rank (attribute "workload"). Nothing if the traces were made otherwise, or if ranks were added or left
// out. Errors: the workload cannot be read.
absl::StatusOr<std::optional<StepPlan>> PlanOf(const TraceSet& traces);

}  // namespace chakra::generate
