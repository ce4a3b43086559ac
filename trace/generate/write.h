// From the graphs of stages to traces: files, or the trace model in memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trace/et/read_options.h"
#include "trace/generate/sizes.h"
#include "trace/generate/step.h"
#include "trace/io/whole_folder.h"
#include "trace/model/trace.h"

namespace chakra::generate {

// A step's stages, and which rank is on which.
struct StepGraphs {
  StepPlan plan;
  std::vector<StageGraph> stages;  // Split::graphs() of them
};
// Errors: those of BuildStage().
absl::StatusOr<StepGraphs> BuildStep(const StepPlan& plan);

// The groups of all ranks: those of more than one rank that nodes name.
Groups GroupsOf(const StepGraphs& step);

// Writes FOLDER/workload.RANK.et.zst for each of `ranks` (empty: all), and FOLDER/workload.json with the
// groups, which readers of traces find there. Creates the folder. `threads`: files written at once. The same
// step gives the same bytes. All files appear together, in place of an earlier step (empty `ranks`) or beside
// its other ranks; `whole`, if not null, has them until then. Errors name the path, or the rank that there is
// not.
absl::Status WriteStep(const StepGraphs& step, const std::string& folder, const std::vector<int>& ranks,
                       int threads, WholeFolder* whole = nullptr);

// Writes the trace of each stage's first rank alone, named as WriteStep() names it, and
// FOLDER/workload.ranks.json (proto/rank_index.proto), by which readers make the traces of all ranks. Errors
// name the path; traces in the folder that this step has not are one.
absl::Status WriteSharedStep(const StepGraphs& step, const std::string& folder, int threads,
                             WholeFolder* whole = nullptr);

// The same traces as WriteStep()'s, read. Ranks of a stage share one graph. `name`: of the input, for
// messages. With ReadOptions::symmetric one rank of each stage, or of each stage and number in a ring of cp,
// has peers.
absl::StatusOr<TraceSet> TracesOf(const StepGraphs& step, const std::string& name,
                                  const ReadOptions& options);

// The step that traces were made of by TracesOf() or WriteStep(), which put the workload into the metadata of
// each rank (attribute "workload"). Nothing where they were not, or where ranks were added or left out.
// Errors: the workload cannot be read.
absl::StatusOr<std::optional<StepPlan>> PlanOf(const TraceSet& traces);

}  // namespace chakra::generate
