#include "trace/import/reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/status_macros.h"
#include "trace/et/rank_of.h"
#include "trace/import/find_groups.h"
#include "trace/import/inputs.h"
#include "trace/import/load.h"
#include "trace/import/registry.h"
#include "trace/model/groups.h"

namespace chakra {
namespace {

// Only the PyTorch reader takes ranks from --rank-of. Other formats read the ranks from the content of their
// files.
absl::Status CheckRankOf(const Importer& importer, const ReadOptions& options) {
  if (options.capture.rank_of.empty() || importer.name == "pytorch") return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--rank-of ", options.capture.rank_of[0],
                   ": applies only to PyTorch captures and Chakra traces; this is a ", importer.title));
}

absl::Status TakeRanksByHand(const ReadOptions& options, std::vector<TraceFile>* files) {
  if (options.capture.rank_of.empty()) return absl::OkStatus();
  bool any = false;
  for (TraceFile& file : *files) {
    ASSIGN_OR_RETURN(const int rank, RankByHand(options.capture.rank_of, file.path));
    if (rank >= 0) file.rank = rank;
    any = any || rank >= 0;
  }
  if (any) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--rank-of ", options.capture.rank_of[0],
                                                 ": no file's path matches; the first is ",
                                                 files->front().path));
}

}  // namespace

absl::StatusOr<TraceSet> ReadTraceSet(const std::vector<std::string>& inputs, const ReadOptions& options) {
  if (const Importer* importer = ImporterOfRun(inputs, options)) {
    RETURN_IF_ERROR(CheckRankOf(*importer, options));
    return importer->run(inputs, options);
  }
  if (!options.capture.steps.empty() || !options.capture.ranks.empty() ||
      !options.capture.step_range.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(absl::StrJoin(inputs, ", "), ": only ", KindsOfRuns(),
                                                   " allow selecting steps and ranks"));
  }
  std::vector<std::string> passed_over;
  ASSIGN_OR_RETURN(std::vector<TraceFile> files, ResolveInputs(inputs, &passed_over));
  GraphPool pool;
  std::vector<Loaded> loaded;
  std::vector<GroupCandidate> candidates;
  InputFile archive;
  absl::Status status = TakeRanksByHand(options, &files);
  if (status.ok() && files.size() > 1) status = CheckRanks(&files);
  if (!status.ok()) return status;
  status = files.size() == 1 ? LoadSingle(files.front(), options, &pool, &loaded, &candidates, &archive)
                             : LoadFiles(files, options, &pool, &loaded);
  if (!status.ok()) return status;

  TraceSet set;
  if (!passed_over.empty()) {
    set.warnings.push_back(
        absl::StrCat("not read, because .et files of the same name exist: ", passed_over[0],
                     passed_over.size() > 1 ? absl::StrCat(" and ", passed_over.size() - 1, " more") : ""));
  }
  std::string prefix = files.front().prefix;
  if (!archive.path.empty()) {
    prefix = ParseTraceName(loaded.front().trace.file).prefix;
    set.inputs.push_back(archive);
  }
  for (Loaded& l : loaded) {
    if (l.rewritten && !l.input.path.empty()) set.inputs.push_back(std::move(l.input));
  }
  if (status = Flatten(&loaded); !status.ok()) return status;
  std::vector<std::vector<GroupNode>> nodes;
  for (Loaded& l : loaded) {
    set.ranks.push_back(std::move(l.trace));
    nodes.push_back(std::move(l.group_nodes));
    if (!l.input.path.empty()) set.inputs.push_back(std::move(l.input));
  }
  if (!options.groups_file.empty()) {
    status = GroupsFromFile(options.groups_file, &set);
  } else {
    status = GroupsFromNodes(nodes, options.strict, &set);
    if (status.ok() && set.groups.empty()) {
      if (archive.path.empty()) candidates = FindCandidates(prefix);
      status = GroupsFromCandidates(prefix, candidates, &set);
    }
  }
  if (!status.ok()) return status;
  ResolveGroupZero(set.groups, &set.ranks);
  return set;
}

absl::StatusOr<RankTrace> DecodeTrace(absl::string_view content, absl::string_view file, int rank,
                                      const ReadOptions& options) {
  GraphPool pool;
  Worker worker(&pool);
  Loaded loaded;
  RETURN_IF_ERROR(DecodeContent(content, file, rank, options, &worker, &loaded));
  return std::move(loaded.trace);
}

}  // namespace chakra
