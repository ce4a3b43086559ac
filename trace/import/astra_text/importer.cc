#include "trace/import/astra_text/importer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/status_macros.h"
#include "trace/import/astra_text/program.h"
#include "trace/import/astra_text/workload.h"
#include "trace/import/astra_text/write.h"
#include "trace/import/recorded/files.h"

namespace chakra::astra_text {
namespace {

constexpr absl::string_view kEndings[] = {".txt"};

absl::StatusOr<TraceSet> Read(const std::vector<std::string>& inputs, const ReadOptions& options) {
  if (!options.groups_file.empty() || !options.capture.steps.empty() || !options.capture.ranks.empty() ||
      !options.capture.step_range.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(inputs[0], ": a text workload has its own groups, and no steps or ranks to select"));
  }
  std::vector<std::string> others;
  ASSIGN_OR_RETURN(const auto files, FindRecordedFiles(inputs, kImporter, &others));
  if (files.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(absl::StrJoin(files, ", "), ": each text workload is a whole run; expected one"));
  }
  const std::string& path = files.front();
  Buffer content;
  InputFile input;
  RETURN_IF_ERROR(ReadRecordedFile(path, &content, &input));
  input.role = "trace";
  ASSIGN_OR_RETURN(const Workload workload, ReadTextWorkload(content.view(), path));
  ASSIGN_OR_RETURN(const Layout layout, LayoutOf(workload, options.ranks, path));
  ASSIGN_OR_RETURN(const Program program, ProgramOf(workload, layout, path));
  ASSIGN_OR_RETURN(TraceSet set, TracesOf(program, layout, path, options));
  set.inputs.push_back(std::move(input));
  set.warnings.insert(set.warnings.begin(), workload.warnings.begin(), workload.warnings.end());
  if (options.ranks == 0 && workload.ranks == 0) {
    set.warnings.push_back(
        absl::StrCat(path, " does not give the number of ranks; the replay has ", layout.ranks,
                     layout.ranks == 1 ? " rank, without a collective" : " ranks, one model-parallel group",
                     "; --ranks N sets the number"));
  }
  return set;
}

}  // namespace

const Importer kImporter = {
    .name = "astra_text",
    .title = "text workload",
    .help = "layers and their collectives, as ASTRA-sim 1 and SimAI read them",
    .endings = kEndings,
    .sniff = LooksLikeTextWorkload,
    .run = Read,
    .recorded = false,
};

}  // namespace chakra::astra_text
